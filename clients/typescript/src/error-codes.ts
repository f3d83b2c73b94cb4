// What the codes and names of errors mean that Node, HTTP libraries and SDKs throw.

import type { SeenKind } from "./seen.js";

type Kind = Extract<SeenKind, "connect" | "lost" | "caller_cancelled">;

/** System calls of before a request is sent: whatever goes wrong in them, nothing was. */
const BEFORE_SENDING = new Set(["connect", "getaddrinfo"]);

// What is not surely from before the request was sent is lost: to send it again could do a thing twice.
const CODES: Readonly<Record<string, Kind>> = {
  // Node
  ECONNREFUSED: "connect",
  ENOTFOUND: "connect",
  EAI_AGAIN: "connect",
  ECONNRESET: "lost",
  ECONNABORTED: "lost", // axios: its time-out
  EPIPE: "lost",
  EPROTO: "lost",
  ETIMEDOUT: "lost", // of a connect: told by its system call
  EHOSTUNREACH: "lost",
  ENETUNREACH: "lost",
  ERR_STREAM_PREMATURE_CLOSE: "lost",
  ERR_HTTP2_STREAM_ERROR: "lost",
  ERR_HTTP2_SESSION_ERROR: "lost",
  ERR_HTTP2_GOAWAY_SESSION: "lost",
  // certificates, which are looked at before anything is sent
  CERT_HAS_EXPIRED: "connect",
  CERT_NOT_YET_VALID: "connect",
  CERT_REVOKED: "connect",
  CERT_SIGNATURE_FAILURE: "connect",
  CERT_UNTRUSTED: "connect",
  CERT_CHAIN_TOO_LONG: "connect",
  DEPTH_ZERO_SELF_SIGNED_CERT: "connect",
  HOSTNAME_MISMATCH: "connect",
  INVALID_CA: "connect",
  INVALID_PURPOSE: "connect",
  PATH_LENGTH_EXCEEDED: "connect",
  SELF_SIGNED_CERT_IN_CHAIN: "connect",
  UNABLE_TO_GET_ISSUER_CERT: "connect",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "connect",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "connect",
  ERR_TLS_CERT_ALTNAME_INVALID: "connect",
  ERR_TLS_HANDSHAKE_TIMEOUT: "connect",
  ERR_SSL_WRONG_VERSION_NUMBER: "connect",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "connect", // plain text where TLS is spoken
  // undici, which is behind fetch
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_SOCKET: "lost",
  UND_ERR_HEADERS_TIMEOUT: "lost",
  UND_ERR_BODY_TIMEOUT: "lost",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "lost",
  UND_ERR_DESTROYED: "lost",
  UND_ERR_CLOSED: "lost",
  // axios
  ERR_NETWORK: "lost",
  ERR_BAD_RESPONSE: "lost", // of an answer that began well and was broken off
  ERR_CANCELED: "caller_cancelled",
};
/** What node:http says of an answer that is no HTTP. */
const PARSER_CODES = "HPE_";

/** By a class's name, or the name that an error says it has. */
const NAMES: Readonly<Record<string, Kind>> = {
  AbortError: "caller_cancelled",
  CanceledError: "caller_cancelled",
  APIUserAbortError: "caller_cancelled",
  TimeoutError: "lost",
  HTTPParserError: "lost", // undici's
  APIConnectionTimeoutError: "lost",
  APIConnectionError: "lost",
};

/**
 * What is said of a TLS handshake that does not come about: the other half hung up (Node says ECONNRESET, as it does later
 * on), or speaks no TLS, or no TLS that is spoken here (Node says EPROTO, as it does later on).
 */
const OF_HANDSHAKE =
  /before secure TLS connection was established|wrong version number|packet length too long|unsupported protocol|handshake failure/;
/** What fetch says itself; its cause, where there is one, knows better. */
const OF_FETCH = /^(fetch failed|terminated)$/;
/** What fetch refuses to call at all, by what caused it. */
const NEVER_FETCHED = /^(bad port|unknown scheme|invalid method)$/;
/** Every message of JSON.parse has the word; other SyntaxErrors are faults of a program. */
const OF_JSON = /\bJSON\b/;

/** What an error means by itself; undefined where it is none of a call. */
export function kindOf(error: Error): SeenKind | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && BEFORE_SENDING.has(syscall)) return "connect";
  if (OF_HANDSHAKE.test(error.message)) return "connect";
  if (error.name === "SyntaxError") return OF_JSON.test(error.message) ? "acceptance_failed" : undefined;
  const name = namesOf(error).find((one) => Object.hasOwn(NAMES, one));
  if (name !== undefined) return NAMES[name];
  if (typeof code === "string" && Object.hasOwn(CODES, code)) return CODES[code];
  if (typeof code === "string" && code.startsWith(PARSER_CODES)) return "lost";
  if (NEVER_FETCHED.test(error.message)) return "connect";
  return error instanceof TypeError && OF_FETCH.test(error.message) ? "lost" : undefined;
}

/** The name that an error says it has, and those of its classes: SDKs leave `name` at "Error". */
export function namesOf(error: Error): string[] {
  const names = [error.name];
  for (let one: unknown = Object.getPrototypeOf(error); one instanceof Error; one = Object.getPrototypeOf(one)) {
    names.push(one.constructor.name);
  }
  return names;
}
