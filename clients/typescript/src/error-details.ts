// The details of a gRPC error (google.rpc.Status, in the trailer grpc-status-details-bin), read from their bytes.

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Metadata } from "@grpc/grpc-js";

import { Duration } from "./generated/google/protobuf/duration.js";

/** The name of the trailer. */
const TRAILER = "grpc-status-details-bin";

/** One field that makes no sense. */
export interface FieldViolation {
  /** Its place in the message: `request.regions[2]`. */
  readonly field: string;
  /** What is wrong and how to cure it. */
  readonly description: string;
}

/** What the details tell. */
export interface ErrorDetails {
  /** The reason of google.rpc.ErrorInfo: `ERROR_REASON_POLICY_NOT_FOUND`; empty where there is none. */
  readonly reason: string;
  /** The violations of google.rpc.BadRequest. */
  readonly violations: readonly FieldViolation[];
  /** The delay of google.rpc.RetryInfo, in seconds. */
  readonly retrySeconds: number | undefined;
}

const NONE: ErrorDetails = { reason: "", violations: [], retrySeconds: undefined };

/** The details in the trailers of an answer; none where it has none that can be read, as one from a proxy may. */
export function errorDetails(trailers: Metadata | undefined): ErrorDetails {
  const [status] = trailers?.get(TRAILER) ?? [];
  if (!(status instanceof Uint8Array)) return NONE;
  try {
    return fieldsOf(status, 3).reduce(withDetail, NONE);
  } catch {
    return NONE;
  }
}

/** Adds what a google.protobuf.Any of the details holds. */
function withDetail(told: ErrorDetails, any: Uint8Array): ErrorDetails {
  const kind = textOf(any, 1);
  const [value = new Uint8Array()] = fieldsOf(any, 2);
  if (kind.endsWith("/google.rpc.ErrorInfo")) return { ...told, reason: textOf(value, 1) };
  if (kind.endsWith("/google.rpc.BadRequest")) {
    const violations = fieldsOf(value, 1).map((one) => ({ field: textOf(one, 1), description: textOf(one, 2) }));
    return { ...told, violations: [...told.violations, ...violations] };
  }
  if (kind.endsWith("/google.rpc.RetryInfo")) {
    const { seconds, nanos } = Duration.decode(fieldsOf(value, 1)[0] ?? new Uint8Array());
    return { ...told, retrySeconds: seconds + nanos / 1e9 };
  }
  return told;
}

/** The values of a field that has a length (messages, strings, bytes) in a message. */
function fieldsOf(message: Uint8Array, field: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(type, number);
  }
  return found;
}

function textOf(message: Uint8Array, field: number): string {
  return new TextDecoder().decode(fieldsOf(message, field)[0]);
}
