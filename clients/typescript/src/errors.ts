// Why there is no answer: one error a kind, made of the gRPC status that the service sent.

import { type ServiceError, status } from "@grpc/grpc-js";

import { type FieldViolation, errorDetails } from "./error-details.js";

/** The name of a gRPC status: `UNAVAILABLE`. */
export type StatusName = keyof typeof status;

/** What an error tells beside its message. */
export interface RouterErrorFacts {
  /** The name of the gRPC status. */
  readonly code: StatusName;
  /** The name in ErrorReason. */
  readonly reason?: string | undefined;
  /** Every field that makes no sense. */
  readonly violations?: readonly FieldViolation[] | undefined;
  /** What it was made of. */
  readonly cause?: unknown;
}

/** The request could not be answered. */
export class RouterError extends Error {
  override readonly name: string = "RouterError";
  /** The name of the gRPC status: `UNAVAILABLE`. */
  readonly code: StatusName;
  /** The name in ErrorReason: `ERROR_REASON_POLICY_NOT_FOUND`; empty where the answer did not come from the service. */
  readonly reason: string;
  /** Every field that makes no sense. */
  readonly violations: readonly FieldViolation[];

  /** @param facts - what it tells beside the message */
  constructor(message: string, facts: RouterErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.reason = facts.reason ?? "";
    this.violations = facts.violations ?? [];
  }
}

/**
 * The service cannot be reached, has no catalogue yet, or is on its way out. The request may go nowhere.
 *
 * What asks for traces or reports is told so too where the service keeps none, or its store is lost for now.
 */
export class RouterUnavailable extends RouterError {
  override readonly name: string = "RouterUnavailable";
}

/** The service did not answer in time. */
export class RouterTimeout extends RouterUnavailable {
  override readonly name = "RouterTimeout";
}

/** The request makes no sense; `violations` names every bad field at once. */
export class InvalidRequest extends RouterError {
  override readonly name: string = "InvalidRequest";
}

/** A report names an endpoint that the decision did not list; nothing of the report was taken. */
export class EndpointNotListed extends InvalidRequest {
  override readonly name = "EndpointNotListed";
}

/** The catalogue has no such policy, or it is not the caller's. */
export class PolicyNotFound extends RouterError {
  override readonly name = "PolicyNotFound";
}

/** The catalogue has no such workload, or not in this version, or it is not the caller's. */
export class WorkloadNotFound extends RouterError {
  override readonly name = "WorkloadNotFound";
}

/** There is no such trace, it is no longer kept, or it is not the caller's. */
export class TraceNotFound extends RouterError {
  override readonly name = "TraceNotFound";
}

/** The caller may not ask this; or the server was not started for requests that bring their own policy. */
export class PermissionDenied extends RouterError {
  override readonly name = "PermissionDenied";
}

/** The service does not know the caller; or the token could not be had. */
export class Unauthenticated extends RouterError {
  override readonly name = "Unauthenticated";
}

/** A limit of the service, or the size of an answer, was exceeded. */
export class LimitExceeded extends RouterError {
  override readonly name = "LimitExceeded";
}

type Kind = new (message: string, facts: RouterErrorFacts) => RouterError;

const KINDS: Partial<Record<StatusName, Kind>> = {
  UNAVAILABLE: RouterUnavailable,
  DEADLINE_EXCEEDED: RouterTimeout,
  INVALID_ARGUMENT: InvalidRequest,
  NOT_FOUND: PolicyNotFound,
  PERMISSION_DENIED: PermissionDenied,
  UNAUTHENTICATED: Unauthenticated,
  RESOURCE_EXHAUSTED: LimitExceeded,
};
// What a status alone does not tell.
const REASONS: Readonly<Record<string, Kind>> = {
  ERROR_REASON_ENDPOINT_NOT_LISTED: EndpointNotListed,
  ERROR_REASON_TRACE_NOT_FOUND: TraceNotFound,
  ERROR_REASON_WORKLOAD_NOT_FOUND: WorkloadNotFound,
};

/** The error of a failed call to the service at `target`. */
export function errorOf(failure: ServiceError, target: string): RouterError {
  const code = (status[failure.code] as StatusName | undefined) ?? "UNKNOWN";
  const { reason, violations } = errorDetails(failure.metadata);
  const kind = REASONS[reason] ?? KINDS[code] ?? RouterError;
  const told = failure.details || code;
  // Where the service itself did not speak, say which one was asked.
  const message = reason === "" ? `no answer from the router-service at ${target}: ${told}` : told;
  return new kind(message, { code, reason, violations, cause: failure });
}

/** Whether something that was thrown is an error of grpc-js. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "metadata" in error && "code" in error && typeof error.code === "number";
}
