// What was seen, told from the responses and errors of HTTP and gRPC libraries without importing any of them.

import { status } from "@grpc/grpc-js";

import { kindOf, namesOf } from "./error-codes.js";
import { errorDetails } from "./error-details.js";
import { type StatusName, isServiceError } from "./errors.js";
import { CallFailed, type HeadersLike, type Seen, type SeenKind, plainHeaders } from "./seen.js";

/** A response of fetch, undici, axios, node:http, or alike. */
export interface ResponseLike {
  /** The status, of fetch and axios. */
  readonly status?: number | undefined;
  /** The status, of undici and node:http. */
  readonly statusCode?: number | undefined;
  /** The headers. */
  readonly headers?: HeadersLike | undefined;
  /** What reads the body, of fetch. */
  text?(): Promise<string>;
  /** What axios made of the body. */
  readonly data?: unknown;
  /** What undici reads the body from; node:http's answer is a stream itself. */
  readonly body?: unknown;
}

/**
 * An answer that is an error, of fetch, undici, axios or node:http, to be thrown in a {@link CallFailed}. Its body is read;
 * one that cannot be read tells nothing.
 *
 * @example
 * ```ts
 * const response = await fetch(url, { signal: attempt.signal });
 * if (!response.ok) throw new CallFailed(await seenOfResponse(response));
 * ```
 */
export async function seenOfResponse(response: ResponseLike): Promise<Seen> {
  const { headers } = response;
  const body = await readBody(response).catch(() => undefined);
  return http(response.status ?? response.statusCode, headers ?? {}, body);
}

async function readBody(response: ResponseLike): Promise<unknown> {
  if (typeof response.text === "function") return await response.text();
  if (response.data !== undefined) return isStream(response.data) ? await streamText(response.data) : response.data;
  const { body } = response;
  if (isObject(body) && typeof body["text"] === "function") return await (body as { text(): Promise<string> }).text();
  return isStream(response) ? await streamText(response) : body;
}

function isStream(value: unknown): value is AsyncIterable<Uint8Array | string> {
  return isObject(value) && Symbol.asyncIterator in value;
}

async function streamText(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
  return Buffer.concat(pieces).toString("utf8");
}

/**
 * What was seen, of what a call threw or of what caused it; undefined where it is no failure of a call.
 *
 * Knows {@link CallFailed}, and what fetch, undici, axios, node:http, the OpenAI, Anthropic and AWS SDKs and grpc-js throw.
 */
export function seenOfError(error: unknown): Seen | undefined {
  const chain = chainOf(error);
  for (const one of chain) {
    const seen = one instanceof CallFailed ? one.seen : answered(one);
    if (seen !== undefined) return seen;
  }
  const kinds = chain.map((one) => ({ one, kind: kindOf(one) })).filter(({ kind }) => kind !== undefined);
  // fetch and the SDKs say the same to a refusal and to a reset; what caused it knows better.
  const told = kinds.find(({ kind }) => kind === "connect") ?? kinds[0];
  return told?.kind === undefined ? undefined : { kind: told.kind, why: why(told.kind, told.one) };
}

/** For people; never a message, which may quote an answer. */
function why(kind: SeenKind, error: Error): string | undefined {
  if (kind === "acceptance_failed") return "the answer does not parse";
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? code : undefined;
}

/** Whether it says that somebody cancelled, by a signal that is not the run's. */
export function isAbort(error: unknown): boolean {
  return !(error instanceof CallFailed) && chainOf(error).some((one) => kindOf(one) === "caller_cancelled");
}

/** An error and what caused it, outermost first. */
function chainOf(error: unknown): Error[] {
  const met = new Set<Error>();
  const waiting = [error];
  for (const one of waiting) {
    if (!(one instanceof Error) || met.has(one)) continue;
    met.add(one);
    // A connect to a name of several addresses fails with one error for each.
    waiting.push(one.cause, ...(one instanceof AggregateError ? (one.errors as unknown[]) : []));
  }
  return [...met];
}

/** What an error carries of an answer. */
function answered(error: Error): Seen | undefined {
  if (isServiceError(error)) return ofGrpc(error.code, error.details, errorDetails(error.metadata));
  const { response, status: own, error: told, headers, $metadata } = error as Partial<Carrying>;
  if (isObject(response) && typeof response["status"] === "number" && response["status"] >= 300) {
    const { data } = response;
    return http(response["status"], headersOf(response["headers"]), isStream(data) ? undefined : data);
  }
  if (isObject($metadata) && typeof $metadata["httpStatusCode"] === "number") {
    const given = isObject(response) ? headersOf(response["headers"]) : {};
    return http($metadata["httpStatusCode"], given, { __type: error.name, message: error.message });
  }
  if (!namesOf(error).includes("APIError")) return undefined;
  // OpenAI's SDK keeps what stands under `error`, Anthropic's the whole body.
  const body = isObject(told) && "error" in told ? told : { error: told };
  if (typeof own === "number") return http(own, headersOf(headers), body);
  // An error in the middle of a stream, whose answer had begun well.
  return told === undefined ? undefined : http(200, headersOf(headers), body);
}

/** Where errors carry answers: axios and others, the OpenAI and Anthropic SDKs, AWS's. */
interface Carrying {
  response: unknown;
  status: unknown;
  error: unknown;
  headers: unknown;
  $metadata: unknown;
}

/** What grpc-js says where a call was never sent. Of a deadline it cannot be told from the words of a server. */
const NOT_SENT = /^(\w+: )?No connection established|^Name resolution failed/;

/** What grpc-js says where the call was cancelled on this side; of a backend that cancels, its own words. */
const CANCELLED_HERE = "Cancelled on client";

function ofGrpc(number: number, details: string, { reason, retrySeconds }: ReturnType<typeof errorDetails>): Seen {
  const code = (status[number] as StatusName | undefined) ?? "UNKNOWN";
  if (code === "CANCELLED" && details === CANCELLED_HERE) return { kind: "caller_cancelled" };
  const told = [
    ...(reason === "" ? [] : [{ reason }]),
    ...(retrySeconds === undefined ? [] : [{ retryDelay: `${String(retrySeconds)}s` }]),
  ];
  return {
    kind: "grpc",
    code,
    sent: code !== "UNAVAILABLE" || !NOT_SENT.test(details),
    body: { message: details, details: told },
  };
}

function http(code: number | undefined, headers: HeadersLike, body: unknown): Seen {
  const told = body instanceof Uint8Array ? Buffer.from(body).toString("utf8") : body;
  return { kind: "http", status: code, headers: plainHeaders(headers), body: told };
}

function headersOf(headers: unknown): HeadersLike {
  return isObject(headers) ? headers : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
