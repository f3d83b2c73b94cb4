// Calls of the service's methods: with a deadline, cancelled by a signal, and with errors of this library.

import { Readable, type Writable } from "node:stream";

import {
  Client,
  type ClientReadableStream,
  type ClientWritableStream,
  type CallOptions as GrpcOptions,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";

import { inTime, whenAborted } from "./aborting.js";
import {
  DEFAULT_TIMEOUT_MS,
  type RouterClientOptions,
  type Token,
  authorization,
  badTimeout,
  isTimeout,
  opening,
} from "./channels.js";
import { RouterError, RouterTimeout, Unauthenticated, errorOf, isServiceError } from "./errors.js";
import { Places } from "./places.js";

/** What every call can be given. */
export interface CallOptions {
  /** Milliseconds that it may take; the client's own where absent, and no limit for streams. */
  readonly timeoutMs?: number | undefined;
  /** Cancels the call, also at the service; it is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What is used of a method of the generated service definitions. */
export interface Method<Q, A> {
  readonly path: string;
  readonly requestSerialize: (message: Q) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => A;
}

type Answer<A> = (failure: ServiceError | null, answer?: A) => void;
type Feed<C> = (call: C, fail: (error: unknown) => void) => () => void;

/** The connection of a client. */
export class Calls {
  /** Milliseconds that a call may take where it is not told. */
  readonly timeoutMs: number;

  readonly #client: Client;
  readonly #target: string;
  readonly #options: RouterClientOptions;
  readonly #closing = new AbortController();
  readonly #places = new Places();

  constructor(target: string, options: RouterClientOptions) {
    const { credentials, options: channelOptions } = opening(target, options);
    this.#target = target;
    this.#options = options;
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#client = new Client(target, credentials, channelOptions);
  }

  /** The answer to one message. */
  async unary<Q, A>(method: Method<Q, A>, message: Q, options: CallOptions): Promise<A> {
    const { path, requestSerialize: write, responseDeserialize: read } = method;
    const { timeoutMs = this.timeoutMs, signal } = options;
    const begun = performance.now();
    this.#check(timeoutMs, signal);
    const late = (): RouterTimeout => timedOut(`the calls before it took more than ${timeoutMs} ms`);
    await this.#places.take(async (turn) => await inTime(turn, timeoutMs, late, signal, this.#closing.signal));
    try {
      const [metadata, grpc] = await this.#prepared(timeoutMs, signal, begun);
      return await this.#answer<A, { cancel(): void }>(
        (answer) => this.#client.makeUnaryRequest(path, write, read, message, metadata, grpc, answer),
        signal,
      );
    } finally {
      this.#places.leave();
    }
  }

  /** The answer to a stream of messages; `items` are sent as fast as the service takes them. */
  async sending<Q, A>(
    { path, requestSerialize: write, responseDeserialize: read }: Method<Q, A>,
    items: AsyncIterable<Q> | Iterable<Q>,
    options: CallOptions,
  ): Promise<A> {
    const { timeoutMs, signal } = options;
    const [metadata, grpc] = await this.#prepared(timeoutMs, signal);
    return await this.#answer<A, ClientWritableStream<Q>>(
      (answer) => this.#client.makeClientStreamRequest(path, write, read, metadata, grpc, answer),
      signal,
      (call, fail) => feed(items, call, fail),
    );
  }

  /** What a stream brings. Who stops reading cancels it. */
  receiving<Q, A>(method: Method<Q, A>, message: Q, options: CallOptions): AsyncGenerator<A, void, undefined> {
    const { path, requestSerialize: write, responseDeserialize: read } = method;
    return this.#received<A, ClientReadableStream<A>>(
      (metadata, grpc) => this.#client.makeServerStreamRequest(path, write, read, message, metadata, grpc),
      options,
    );
  }

  /** The answers to a stream of messages, as they come. Who stops reading cancels it. */
  exchanging<Q, A>(
    { path, requestSerialize: write, responseDeserialize: read }: Method<Q, A>,
    items: AsyncIterable<Q> | Iterable<Q>,
    options: CallOptions,
  ): AsyncGenerator<A, void, undefined> {
    return this.#received<A, ClientReadableStream<A> & ClientWritableStream<Q>>(
      (metadata, grpc) => this.#client.makeBidiStreamRequest(path, write, read, metadata, grpc),
      options,
      (call, fail) => feed(items, call, fail),
    );
  }

  /** Cancels the calls that still run, and closes the channel, unless that is the caller's. */
  close(): void {
    this.#closing.abort(new RouterError("the client is closed", { code: "CANCELLED" }));
    if (this.#options.channel === undefined) this.#client.close();
  }

  async #answer<A, C extends { cancel(): void }>(
    start: (answer: Answer<A>) => C,
    signal: AbortSignal | undefined,
    send?: Feed<C>,
  ): Promise<A> {
    const release: (() => void)[] = [];
    const answer = new Promise<A>((resolve, reject) => {
      const call = start((failure, told) => {
        if (failure !== null) reject(errorOf(failure, this.#target));
        else if (told !== undefined) resolve(told); // it is: a call without one fails
      });
      const stop = (reason: unknown): void => {
        reject(reason);
        call.cancel();
      };
      release.push(whenAborted([signal, this.#closing.signal], stop), send?.(call, stop) ?? nothing);
    });
    return await answer.finally(() => {
      for (const one of release) one();
    });
  }

  async *#received<A, C extends ClientReadableStream<A>>(
    open: (metadata: Metadata, grpc: GrpcOptions) => C,
    options: CallOptions,
    send?: Feed<C>,
  ): AsyncGenerator<A, void, undefined> {
    const { timeoutMs, signal } = options;
    const [metadata, grpc] = await this.#prepared(timeoutMs, signal);
    const call = open(metadata, grpc);
    call.on("error", nothing); // a cancelled call says so in an event that nobody waits for any more
    const reasons: unknown[] = []; // an aborted signal's may be null
    const stop = (reason: unknown): void => {
      reasons.push(reason);
      call.destroy();
      call.cancel();
    };
    const release = [whenAborted([signal, this.#closing.signal], stop), send?.(call, stop) ?? nothing];
    try {
      for await (const answer of call) yield answer;
    } catch (failure) {
      if (reasons.length > 0) throw reasons[0];
      throw isServiceError(failure) ? errorOf(failure, this.#target) : failure;
    } finally {
      for (const one of release) one();
      call.cancel();
    }
  }

  /** Rejects at once what would be in vain. */
  #check(timeoutMs: number | undefined, signal: AbortSignal | undefined): void {
    this.#closing.signal.throwIfAborted();
    signal?.throwIfAborted();
    if (timeoutMs !== undefined && !isTimeout(timeoutMs)) throw new TypeError(`timeoutMs: ${badTimeout(timeoutMs)}`);
  }

  /** The metadata and the deadline of a call, both in the time that it may take. */
  async #prepared(
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
    begun: number = performance.now(),
  ): Promise<[Metadata, GrpcOptions]> {
    this.#check(timeoutMs, signal);
    const left = (): number | undefined => timeoutMs && Math.max(0, timeoutMs - (performance.now() - begun));
    const metadata = new Metadata();
    const { token } = this.#options;
    if (token !== undefined) metadata.set("authorization", await this.#authorization(token, left(), signal));
    const rest = left();
    if (rest === 0) throw timedOut("all of the time went by before it could be asked");
    return [metadata, rest === undefined ? {} : { deadline: Date.now() + rest }];
  }

  async #authorization(token: Token, timeoutMs: number | undefined, signal: AbortSignal | undefined): Promise<string> {
    const late = (): RouterTimeout => timedOut("the token did not come in time");
    try {
      return await inTime(authorization(token), timeoutMs ?? this.timeoutMs, late, signal, this.#closing.signal);
    } catch (cause) {
      if (cause instanceof RouterError || signal?.aborted === true) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Unauthenticated(`there is no token to show: ${why}`, { code: "UNAUTHENTICATED", cause });
    }
  }
}

function timedOut(message: string): RouterTimeout {
  return new RouterTimeout(message, { code: "DEADLINE_EXCEEDED" });
}

/** Sends the items as fast as the call takes them, and says where they end by a fault; what is returned stops it. */
function feed(
  items: AsyncIterable<unknown> | Iterable<unknown>,
  call: Writable,
  fail: (error: unknown) => void,
): () => void {
  const source = Readable.from(items);
  source.on("error", fail).pipe(call);
  return () => {
    source.destroy();
  };
}

function nothing(): void {
  // nothing to take back
}
