// What was seen of a failed attempt, and the error that carries it out of a call.

/** The kinds of {@link Seen}. */
export const SEEN_KINDS = [
  "connect",
  "lost",
  "broken_off",
  "http",
  "grpc",
  "caller_cancelled",
  "acceptance_failed",
  "content_refused",
] as const;

/**
 * `connect` (refused, unresolvable, TLS, or timed out before the request was sent), `lost` (after it was sent, nothing
 * received), `broken_off` (after a part was passed on), `http` and `grpc` (an answer that is an error),
 * `caller_cancelled`, `acceptance_failed`, or `content_refused` (an answer that only refuses).
 */
export type SeenKind = (typeof SEEN_KINDS)[number];

/** What was seen of an attempt that brought no answer. */
export interface Seen {
  /** What it is. */
  readonly kind: SeenKind;
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** The headers of the answer, under names of any case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The JSON of the answer, or its text. */
  readonly body?: unknown;
  /** The name of a gRPC status: `UNAVAILABLE`. */
  readonly code?: string | undefined;
  /** Whether a gRPC call had reached the wire; true where absent. */
  readonly sent?: boolean | undefined;
  /** For people: what acceptance said, or what could not be connected to. It is never reported as a code. */
  readonly why?: string | undefined;
}

/** Headers in the forms that HTTP libraries have them in: pairs, as of fetch, or an object with a property for each. */
export type HeadersLike = Iterable<readonly [string, string]> | object;

/**
 * Thrown out of a call: this attempt brought no answer, and `seen` is what was seen of it.
 *
 * Its static methods make one for each kind; {@link seenOfResponse} makes the `seen` of a response.
 */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  /** What was seen. */
  readonly seen: Seen;

  /**
   * @param seen - what was seen
   * @param options - the `cause`, where there is one
   * @throws TypeError where `seen.kind` is none of {@link SEEN_KINDS}
   */
  constructor(seen: Seen, options?: ErrorOptions) {
    super(seen.why ?? [seen.kind, seen.status, seen.code].filter(Boolean).join(" "), options);
    if (!SEEN_KINDS.includes(seen.kind)) {
      throw new TypeError(`${JSON.stringify(seen.kind)} is no kind of Seen; use one of ${SEEN_KINDS.join(", ")}`);
    }
    this.seen = seen;
  }

  /** Refused, unresolvable, TLS failure, or timed out before the request was sent. */
  static notConnected(why?: string): CallFailed {
    return new CallFailed({ kind: "connect", why });
  }

  /** Lost or timed out after the request was sent, nothing received. */
  static lost(why?: string): CallFailed {
    return new CallFailed({ kind: "lost", why });
  }

  /** Broken off after a part of the answer was passed on. */
  static brokenOff(why?: string): CallFailed {
    return new CallFailed({ kind: "broken_off", why });
  }

  /** The caller wants no answer any more. */
  static cancelled(): CallFailed {
    return new CallFailed({ kind: "caller_cancelled" });
  }

  /** An answer that fails acceptance, and why; no words of the answer, since they are reported. */
  static notAccepted(why: string): CallFailed {
    return new CallFailed({ kind: "acceptance_failed", status: 200, why });
  }

  /** An answer that only says that the endpoint will not speak of this. */
  static contentRefused(): CallFailed {
    return new CallFailed({ kind: "content_refused" });
  }

  /** An answer that is an error: its HTTP status, headers, and body as JSON or text. */
  static http(status: number, headers: HeadersLike = {}, body?: unknown): CallFailed {
    return new CallFailed({ kind: "http", status, headers: plainHeaders(headers), body });
  }
}

/** Headers of any form as a plain object with small names. */
export function plainHeaders(headers: HeadersLike): Record<string, string> {
  const pairs: readonly (readonly [string, unknown])[] =
    Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const given = pairs.filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
