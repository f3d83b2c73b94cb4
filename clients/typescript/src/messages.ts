// Messages of the wire from plain objects, checked as a whole, and what is read most often from answers.

import type { BinaryWriter } from "@bufbuild/protobuf/wire";

import { Endpoint } from "./generated/router_service/v1/endpoint.js";
import type { Explanation } from "./generated/router_service/v1/explanation.js";
import { Policy } from "./generated/router_service/v1/policy.js";
import { Attempt, Report } from "./generated/router_service/v1/report.js";
import { type Candidate, type Refusal, RouteRequest } from "./generated/router_service/v1/route.js";
import {
  type DecideRequest,
  type DecideResponse,
  type ExplainRequest,
  ListTracesRequest,
} from "./generated/router_service/v1/router_service.js";

/** The fields of a message by name; null and undefined are "not given", as leaving one out is. */
export type Fields<T> = { readonly [Name in keyof T]?: T[Name] | null | undefined };

/** What a request needs: `{ model: "auto", inputTokens: 1200 }`. The comments of the fields say what each means. */
export type RouteFields = Fields<RouteRequest>;

/** What came of a call: `{ attemptId: "1", endpointId, latencyMs: 640 }`. */
export type AttemptFields = Fields<Attempt>;

/** What came of a decision: `{ traceId, outcome: "accepted", attempts: [{ attemptId: "1", endpointId }] }`. */
export type ReportFields = Omit<Fields<Report>, "attempts"> & {
  readonly attempts?: readonly AttemptFields[] | null | undefined;
};

/** Candidates and a policy of the caller's own, for a server started with `--stateless`. */
export interface InlineFields {
  /** The endpoints to choose from. */
  readonly candidates: readonly Fields<Endpoint>[];
  /** The policy to choose under. */
  readonly policy: Fields<Policy>;
}

/** What is asked beside the request itself. */
export interface DecideFields {
  /** The policy to decide under; without one, the catalogue's default. */
  readonly policyId?: string | undefined;
  /** An id of the caller's own, echoed in the answer. */
  readonly requestId?: string | undefined;
  /** A workload that the request inherits and can only narrow, `name` or `name@version`. */
  readonly workload?: string | undefined;
  /** The class of data that the request holds, where the policy lists those that it allows. */
  readonly dataClass?: string | undefined;
  /** An id of the caller's own that is kept in the trace. */
  readonly operationId?: string | undefined;
  /** Candidates and a policy of the caller's own, for a server started with `--stateless`. */
  readonly inline?: InlineFields | undefined;
}

/** Which traces; every filter that is given must hold. */
export type TraceFilter = Omit<Fields<ListTracesRequest>, "pageToken">;

/** What is used of the generated code of a message. */
interface Kind<T> {
  fromPartial(object: object): T;
  encode(message: T): BinaryWriter;
}

/** What Decide takes. Throws TypeError for what is no request. */
export function decideRequest(request: RouteFields, beside: DecideFields): DecideRequest {
  const { policyId = "", requestId = "", workload = "", dataClass = "", operationId = "" } = beside;
  return {
    ...{ policyId, requestId, workload, dataClass, operationId },
    request: built("RouteRequest", RouteRequest, request),
    inline: beside.inline && inlineMessage(beside.inline),
  };
}

/** What Explain takes; a trace id stands alone, unless a request is given for the service to refuse. */
export function explainRequest(
  request: RouteFields | undefined,
  beside: DecideFields,
  traceId: string,
): ExplainRequest {
  const told = decideRequest(request ?? {}, beside);
  return { ...told, traceId, request: traceId !== "" && request === undefined ? undefined : told.request };
}

/** A report. Throws TypeError for what is none. */
export function reportMessage(report: ReportFields): Report {
  return built("Report", Report, { ...report, attempts: report.attempts?.map(attemptMessage) });
}

/** An attempt of a report. Throws TypeError for what is none. */
export function attemptMessage(attempt: AttemptFields): Attempt {
  return built("Attempt", Attempt, attempt);
}

/** A filter of traces. Throws TypeError for what is none. */
export function tracesRequest(filter: TraceFilter): ListTracesRequest {
  return built("ListTracesRequest", ListTracesRequest, filter);
}

function inlineMessage({ candidates, policy }: InlineFields): DecideRequest["inline"] {
  return {
    candidates: candidates.map((one) => built("Endpoint", Endpoint, one)),
    policy: built("Policy", Policy, policy),
  };
}

/**
 * A message of the fields that are given. Every problem is told at once: a name that is no field would be dropped in
 * silence, and the wire would refuse a wrong number without naming it.
 */
function built<T extends object>(name: string, kind: Kind<T>, fields: Fields<T>): T {
  const empty = kind.fromPartial({});
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const problems = given.flatMap(([field, value]) => problem(kind, empty, field, value));
  if (problems.length > 0) throw new TypeError(`${name}: ${problems.join("; ")}`);
  return kind.fromPartial(Object.fromEntries(given));
}

function problem<T extends object>(kind: Kind<T>, empty: T, field: string, value: unknown): string[] {
  if (!Object.hasOwn(empty, field)) return [`there is no field ${field}; there are ${Object.keys(empty).join(", ")}`];
  const usual: unknown = empty[field as keyof T];
  const [is, should] = [typeOf(value), typeOf(usual)];
  if (usual !== undefined && is !== should) return [`${field} must be of type ${should} and is of type ${is}`];
  try {
    kind.encode({ ...empty, [field]: value }).finish();
    return [];
  } catch (error) {
    return [`${field}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

/** The failover list, best first; empty where the request is refused. Nothing outside it may be tried. */
export function candidates(answer: DecideResponse | Explanation): Candidate[] {
  return answer.decision?.candidates ?? [];
}

/** After how many milliseconds the first endpoint may be back; undefined where that is not known. */
export function retryAfterOf(refusal: Refusal): number | undefined {
  const { retryAfter } = refusal;
  return retryAfter && retryAfter.seconds * 1000 + Math.ceil(retryAfter.nanos / 1e6);
}
