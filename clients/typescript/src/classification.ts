// What a failed attempt means: its class, what comes next, and what its report tells, by failure_classes.json.

import { found, parsed, told, toldStatus } from "./error-bodies.js";
import { FAILURE_CLASSES, type FailureClass, type Row, type Then } from "./failure-classes.js";
import { retryAfterMs } from "./retry-after.js";
import { type Seen, plainHeaders } from "./seen.js";

/** What a failed attempt means. */
export interface Verdict {
  /** The class; empty where the caller cancelled. */
  readonly failureClass: FailureClass | "";
  /** What comes next. */
  readonly then: Then;
  /** What a permanent failure is of. */
  readonly of: "endpoint" | "request" | "";
  /**
   * What it means for the endpoint. The service has the last word: a time-out shorter than the endpoint's need counts
   * against nothing.
   */
  readonly effect: "failure" | "suppressed" | "invalid" | "none";
  /** The status to report, HTTP's or gRPC's; undefined where nothing answered. */
  readonly statusCode: number | undefined;
  /** The code to report. */
  readonly errorCode: string;
  /** How long the endpoint asks to be left alone. */
  readonly retryAfterMs: number | undefined;
}

/** What the table reads: `http` is told by the status, `reported` is the number that the service gets. */
interface Read {
  readonly kind: string;
  readonly status?: number | undefined;
  readonly reported: number | undefined;
  readonly body?: unknown;
}

/**
 * What was seen, by the first row of the table that matches it.
 *
 * @param seen - what was seen of the attempt
 * @param now - what a Retry-After's date is told from
 */
export function classify(seen: Seen, now: Date = new Date()): Verdict {
  const { kind, status, reported, body } = read(seen);
  const headers = plainHeaders(seen.headers ?? {});
  const what = status === undefined ? undefined : told(status, headers, body, FAILURE_CLASSES);
  const final = headers["x-should-retry"]?.trim().toLowerCase() === "false";
  const row = FAILURE_CLASSES.rows.find((one) => matches(one, kind, status, what?.subject ?? "", final));
  if (row === undefined) throw new Error("the table of failure classes has no last row"); // it has: its tests hold it
  const [delay] = found(body, FAILURE_CLASSES.retry_delay_places);
  return {
    failureClass: row.class,
    then: row.then,
    of: row.of,
    effect: row.effect,
    statusCode: reported,
    errorCode: row.report ?? what?.errorCode ?? "",
    retryAfterMs: status === undefined ? undefined : retryAfterMs(headers, delay, now),
  };
}

function read(seen: Seen): Read {
  if (seen.kind === "grpc") return readGrpc(seen);
  if (seen.kind !== "http") return { kind: seen.kind, reported: FAILURE_CLASSES.kind_status[seen.kind] };
  const body = parsed(seen.body);
  const isError = seen.status !== undefined && (seen.status < 200 || seen.status >= 300);
  const status = isError ? seen.status : (toldStatus(body, FAILURE_CLASSES.status_places) ?? seen.status);
  return { kind: "http", status, reported: status, body };
}

/** A gRPC status by the kind or the HTTP status that it stands for; its own number is reported. */
function readGrpc(seen: Seen): Read {
  const { grpc, grpc_kinds, grpc_numbers } = FAILURE_CLASSES;
  const code = Object.hasOwn(grpc_numbers, seen.code ?? "") ? (seen.code ?? "") : "UNKNOWN";
  const reported = grpc_numbers[code];
  const body = { error: parsed(seen.body) };
  const row = grpc_kinds.find((one) => one.code === code && (one.sent ?? seen.sent ?? true) === (seen.sent ?? true));
  return row === undefined ? { kind: "http", status: grpc[code], reported, body } : { kind: row.kind, reported };
}

function matches(row: Row, kind: string, status: number | undefined, subject: string, final: boolean): boolean {
  return (
    (row.kinds?.includes(kind) ?? true) &&
    (row.statuses === undefined || (status !== undefined && row.statuses.includes(status))) &&
    (row.subject === undefined || row.subject === subject) &&
    (row.final === undefined || final)
  );
}
