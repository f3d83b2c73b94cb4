// RouterClient: the service's RPCs as methods.

import { type CallOptions, Calls } from "./calls.js";
import { DEFAULT_TARGET, type RouterClientOptions } from "./channels.js";
import {
  CatalogServiceService,
  type ServedEndpoint,
  type WatchCatalogResponse,
} from "./generated/router_service/v1/catalog_service.js";
import type { Policy } from "./generated/router_service/v1/policy.js";
import {
  type DecideRequest,
  type DecideResponse,
  type DecideStreamResponse,
  type ExplainResponse,
  type ReportResponse,
  type ReportStreamResponse,
  RouterServiceService,
} from "./generated/router_service/v1/router_service.js";
import { Trace } from "./generated/router_service/v1/trace.js";
import type { Workload } from "./generated/router_service/v1/workload.js";
import { mapped, pages } from "./iterating.js";
import {
  type DecideFields,
  type ReportFields,
  type RouteFields,
  type TraceFilter,
  decideRequest,
  explainRequest,
  reportMessage,
  tracesRequest,
} from "./messages.js";
import { ReportQueue } from "./report-queue.js";
import { type Call, type RunOptions, runRequest } from "./running.js";
import type { Run } from "./runs.js";

/** What is asked beside the request, and what the call is given. */
export interface DecideOptions extends DecideFields, CallOptions {}

/** As of decide; or the trace to be told again. */
export interface ExplainOptions extends DecideOptions {
  /** A decision or refusal to explain again, word for word, on the catalogue that it was made on. */
  readonly traceId?: string | undefined;
}

/** One request of a stream. */
export interface DecideItem extends DecideFields {
  /** What the request needs. */
  readonly request?: RouteFields | undefined;
}

/** Which page of a listing is asked for at once. */
export interface ListOptions extends CallOptions {
  /** The most that one call brings; 0 leaves it to the service. */
  readonly pageSize?: number | undefined;
}

/**
 * A connection to a router-service. Connecting happens with the first call, and again when it was lost. Close it, or
 * declare it with `await using`.
 *
 * Every call rejects with a {@link RouterError} where there is no answer, with the reason of its signal where that was
 * aborted, and with a TypeError where what it was given is no message. A refusal is an answer.
 *
 * @example
 * ```ts
 * await using router = new RouterClient("127.0.0.1:50051");
 * const answer = await router.decide({ model: "auto", inputTokens: 1200 }, { policyId: "eu-hosted" });
 * for (const candidate of candidates(answer)) console.log(candidate.endpointId);
 * ```
 */
export class RouterClient implements AsyncDisposable {
  /** What `run` reports in the background; its `outbox` counts what became of the reports. */
  readonly reports: ReportQueue;

  readonly #calls: Calls;

  /**
   * @param target - `host:port` or `unix:/path`
   * @param options - credentials, token, time-out
   * @throws TypeError for options that contradict each other, or a token without TLS beyond this machine
   */
  constructor(target: string = DEFAULT_TARGET, options: RouterClientOptions = {}) {
    this.#calls = new Calls(target, options);
    this.reports = new ReportQueue(async (report, signal) => await this.report(report, { signal }), {
      random: Math.random,
      warn: options.warn ?? ((message) => process.emitWarning(message, "RouterServiceWarning")),
    });
  }

  /**
   * The ranked, already filtered failover list of a request, or a refusal.
   *
   * @param request - what the request needs
   * @param options - the policy, the workload, ids; a time-out and a signal
   */
  async decide(request: RouteFields = {}, options: DecideOptions = {}): Promise<DecideResponse> {
    return await this.#decided(decideRequest(request, options), options);
  }

  /**
   * The same for many requests, answered in the order that they come. An item's error never ends the stream.
   *
   * @param items - requests; they are taken as fast as the service answers
   * @param options - a time-out of the whole stream and a signal
   */
  decideStream(
    items: AsyncIterable<DecideItem> | Iterable<DecideItem>,
    options: CallOptions = {},
  ): AsyncGenerator<DecideStreamResponse, void, undefined> {
    const messages = mapped(items, ({ request = {}, ...beside }) => ({ decide: decideRequest(request, beside) }));
    return this.#calls.exchanging(RouterServiceService.decideStream, messages, options);
  }

  /**
   * The decision that `decide` would make, and for every endpoint of the pool why it is in or out; or, with a `traceId`
   * and no request, that decision or refusal told again, word for word, on the catalogue that it was made on.
   *
   * @param request - what the request needs
   * @param options - as of `decide`, and the trace
   */
  async explain(request?: RouteFields, options: ExplainOptions = {}): Promise<ExplainResponse> {
    const message = explainRequest(request, options, options.traceId ?? "");
    return await this.#calls.unary(RouterServiceService.explain, message, options);
  }

  /**
   * Decides, calls the candidates in order until one answers, and reports in the background.
   *
   * It resolves to what came of it, a refusal included; `run.answer()` is the answer or throws {@link NotAnswered}. It
   * rejects with a {@link RouterError} where there is no decision: there is no default endpoint, and nothing was called.
   * It rejects with the signal's reason where that was aborted, and with whatever the call threw that is no failure of an
   * attempt; both are reported.
   *
   * @param request - what the request needs; with a `deadlineMs`, which the time of everything comes out of
   * @param call - makes one attempt, without retries of its own (the OpenAI SDK's are turned off by `maxRetries: 0`) and
   *   cancelled by `attempt.signal`. Brings the answer, or throws: {@link CallFailed}, or what an HTTP library throws
   *   ({@link seenOfError} tells which are known)
   * @param options - acceptance, whether the request may be sent twice, a signal, and what `decide` takes
   */
  async run<T>(request: RouteFields, call: Call<T>, options: RunOptions<T> = {}): Promise<Run<T>> {
    const asking = { decided: this.#decidedInTime.bind(this), reports: this.reports };
    return await runRequest(asking, request, call, options);
  }

  /**
   * Tells what came of a decision: how many of the attempts were new, and how many were known already.
   *
   * A report that comes again changes nothing, so that it may be sent until it is answered.
   */
  async report(report: ReportFields, options: CallOptions = {}): Promise<ReportResponse> {
    const message = { report: reportMessage(report) };
    return await this.#calls.unary(RouterServiceService.report, message, options);
  }

  /**
   * Tells many reports; the answer names those that were not taken, and one of them never ends the stream.
   *
   * Where it breaks it is not known what was taken; all of it may be sent again.
   *
   * @param reports - what came of decisions, in any order
   * @param options - a time-out of the whole stream and a signal
   */
  async reportStream(
    reports: AsyncIterable<ReportFields> | Iterable<ReportFields>,
    options: CallOptions = {},
  ): Promise<ReportStreamResponse> {
    const messages = mapped(reports, (report) => ({ report: reportMessage(report) }));
    return await this.#calls.sending(RouterServiceService.reportStream, messages, options);
  }

  /** A decision or refusal as it was made, with what was asked and what was reported of it. */
  async getTrace(traceId: string, options: CallOptions = {}): Promise<Trace> {
    const { trace } = await this.#calls.unary(RouterServiceService.getTrace, { traceId }, options);
    return trace ?? Trace.fromPartial({});
  }

  /**
   * Decisions and refusals without their reports, newest first; asks for a page when it is come to.
   *
   * @param filter - which ones; every filter that is given must hold
   * @param options - a time-out of each call and a signal
   */
  listTraces(filter: TraceFilter = {}, options: CallOptions = {}): AsyncGenerator<Trace, void, undefined> {
    const query = tracesRequest(filter);
    return pages(async (pageToken) => {
      const message = { ...query, pageToken };
      const page = await this.#calls.unary(RouterServiceService.listTraces, message, options);
      return { items: page.traces, next: page.nextPageToken };
    });
  }

  /** The endpoints that are served now, by id, with what was observed of each; asks for a page when it is come to. */
  listEndpoints({ pageSize = 0, ...options }: ListOptions = {}): AsyncGenerator<ServedEndpoint, void, undefined> {
    return pages(async (pageToken) => {
      const message = { pageSize, pageToken };
      const page = await this.#calls.unary(CatalogServiceService.listEndpoints, message, options);
      return { items: page.endpoints, next: page.nextPageToken };
    });
  }

  /** The policies that are served now, by id. */
  listPolicies({ pageSize = 0, ...options }: ListOptions = {}): AsyncGenerator<Policy, void, undefined> {
    return pages(async (pageToken) => {
      const message = { pageSize, pageToken };
      const page = await this.#calls.unary(CatalogServiceService.listPolicies, message, options);
      return { items: page.policies, next: page.nextPageToken };
    });
  }

  /** The workloads that are served now, by name and version. */
  listWorkloads({ pageSize = 0, ...options }: ListOptions = {}): AsyncGenerator<Workload, void, undefined> {
    return pages(async (pageToken) => {
      const message = { pageSize, pageToken };
      const page = await this.#calls.unary(CatalogServiceService.listWorkloads, message, options);
      return { items: page.workloads, next: page.nextPageToken };
    });
  }

  /** The version of the catalogue that is served now, and each new one from the moment that it serves. */
  watchCatalog(options: CallOptions = {}): AsyncGenerator<WatchCatalogResponse, void, undefined> {
    return this.#calls.receiving(CatalogServiceService.watchCatalog, {}, options);
  }

  /**
   * Delivers the reports that still wait, for 5 seconds at most, and closes the connection. Calls that still run are
   * cancelled. To close again does nothing.
   *
   * @throws ReportsLost where reports could not be delivered; it holds them
   */
  async close(): Promise<void> {
    const loss = await this.reports.close();
    this.#calls.close();
    if (loss !== undefined) throw loss;
  }

  /** As {@link RouterClient.close}, at the end of the block of an `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #decided(message: DecideRequest, options: CallOptions): Promise<DecideResponse> {
    return await this.#calls.unary(RouterServiceService.decide, message, options);
  }

  /** A failover list or a refusal, within the request's own deadline. */
  async #decidedInTime(message: DecideRequest, signal: AbortSignal | undefined): Promise<DecideResponse> {
    const own = message.request?.deadlineMs ?? this.#calls.timeoutMs;
    return await this.#decided(message, { timeoutMs: Math.max(1, Math.min(own, this.#calls.timeoutMs)), signal });
  }
}
