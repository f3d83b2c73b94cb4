// RouterClient.run: decides, calls the candidates one after the other by the rules, and reports.

import { after, orAborted, whenAborted } from "./aborting.js";
import { type CallStep, type Ended, Try } from "./attempts.js";
import { Failover, MAX_ATTEMPTS } from "./failover.js";
import type { Report } from "./generated/router_service/v1/report.js";
import type { Candidate, Decision, RouteRequest } from "./generated/router_service/v1/route.js";
import type { DecideRequest, DecideResponse } from "./generated/router_service/v1/router_service.js";
import { type DecideFields, type RouteFields, decideRequest, reportMessage } from "./messages.js";
import { isAbort, seenOfError } from "./observed.js";
import { Run } from "./runs.js";
import { RUNTIME, type Runtime } from "./runtime.js";
import type { Seen } from "./seen.js";
import { spendableMs } from "./time-budget.js";

/** Makes one attempt, and brings its answer or rejects. */
export type Call<T> = (attempt: Try) => Promise<T> | T;

/** Says what it has against an answer, in words that hold nothing of it; nothing or empty is accepted. */
export type Accept<T> = (answer: T) => Verdicts | Promise<Verdicts>;
type Verdicts = string | null | undefined | void;

/** How a request is run. */
export interface RunOptions<T> extends DecideFields {
  /** What it has against an answer; a {@link CallFailed} that it throws says what was seen. */
  readonly accept?: Accept<T> | undefined;
  /** Whether the operation may be sent again where it is not known what became of the first time. */
  readonly replayable?: boolean | undefined;
  /** Whether you can call a candidate at all; the others are passed over as if they were not listed. */
  readonly canCall?: ((candidate: Candidate) => boolean) | undefined;
  /** Cancels the run: the call under way too, and it is reported so. */
  readonly signal?: AbortSignal | undefined;
  /** Time, sleep and chance; the real ones where left out. */
  readonly runtime?: Partial<Runtime> | undefined;
}

/** What a run needs of a client. */
export interface Asking {
  decided(message: DecideRequest, signal: AbortSignal | undefined): Promise<DecideResponse>;
  reports: { put(report: Report): void };
}

/** Runs a request; RouterClient.run says how. */
export async function runRequest<T>(
  client: Asking,
  request: RouteFields,
  call: Call<T>,
  options: RunOptions<T>,
): Promise<Run<T>> {
  const runtime = { ...RUNTIME, ...options.runtime };
  const begun = runtime.clock();
  const message = decideRequest(request, options);
  const answer = await client.decided(message, options.signal);
  const { decision } = answer;
  if (decision === undefined) return refused(answer);
  const course = new Course(call, options, runtime, decision);
  const failover = new Failover({
    candidates: decision.candidates.filter(options.canCall ?? (() => true)),
    runtime,
    begun,
    spendableMs: spendable(message.request, decision),
    maxAttempts: message.request?.maxAttempts ?? MAX_ATTEMPTS,
    replayable: options.replayable,
  });
  const steps = failover.steps();
  let step = steps.next();
  while (step.done !== true) {
    step = steps.next(step.value.kind === "wait" ? await course.wait(step.value.ms) : await course.try(step.value));
  }
  // A fault of the caller's own counts against no endpoint.
  const outcome = course.thrown !== undefined && !course.thrown.cancelled ? "failed" : step.value;
  const { attempts } = failover;
  const { traceId } = decision;
  const report =
    options.inline === undefined
      ? reportMessage({ traceId, operationId: options.operationId, attempts, outcome })
      : undefined;
  if (report !== undefined) client.reports.put(report);
  if (course.thrown !== undefined) throw course.thrown.error;
  const { result, failure } = course;
  return new Run({ outcome, result, decision, refusal: undefined, attempts, report, failure });
}

function refused<T>({ refusal }: DecideResponse): Run<T> {
  const nothing = { result: undefined, decision: undefined, report: undefined, failure: undefined };
  return new Run<T>({ ...nothing, outcome: "refused", refusal, attempts: [] });
}

/**
 * What can be spent on attempts, in ms: of the request's deadline, or of the workload's where that is shorter.
 *
 * Allowances are rounded down, so that they add up to at most one less per candidate.
 */
function spendable(asked: RouteRequest | undefined, { candidates }: Decision): number | undefined {
  const own = asked?.deadlineMs === undefined ? undefined : spendableMs(asked.deadlineMs);
  const allowed = candidates.map((one) => one.allowanceMs).filter((one) => one !== undefined);
  const sum = allowed.reduce((total, one) => total + one, 0);
  return allowed.length === 0 || (own !== undefined && own < sum + allowed.length) ? own : sum;
}

/** Carries out the steps of one run, and keeps what they brought. */
class Course<T> {
  /** What the last call returned. */
  result: T | undefined;
  /** What was seen of the last attempt that failed. */
  failure: Seen | undefined;
  /** What ends the run by being thrown, once it is reported: cancellation, or a fault of the caller's own. */
  thrown: { readonly error: unknown; readonly cancelled: boolean } | undefined;

  readonly #call: Call<T>;
  readonly #options: RunOptions<T>;
  readonly #runtime: Runtime;
  readonly #decision: Decision;

  constructor(call: Call<T>, options: RunOptions<T>, runtime: Runtime, decision: Decision) {
    this.#call = call;
    this.#options = options;
    this.#runtime = runtime;
    this.#decision = decision;
  }

  async wait(ms: number): Promise<Ended | undefined> {
    const { signal } = this.#options;
    try {
      await orAborted(this.#runtime.sleep(ms, signal), signal);
      return undefined;
    } catch (error) {
      return this.#failed(error, undefined);
    }
  }

  async try(step: CallStep): Promise<Ended> {
    const { accept, signal: caller } = this.#options;
    if (caller?.aborted === true) return this.#failed(caller.reason, undefined); // before it began
    const ending = new AbortController();
    const { signal } = ending;
    const attempt = new Try({ ...step, decision: this.#decision, signal, runtime: this.#runtime });
    const { endpointId, timeoutMs } = attempt;
    const late = new DOMException(`${endpointId} took longer than it may`, "TimeoutError");
    const watch = (ms: number): (() => void) => after(ms, () => ending.abort(late));
    let takeBackTime = timeoutMs === undefined ? undefined : watch(timeoutMs);
    attempt.whenExtended((leftMs) => {
      takeBackTime?.();
      takeBackTime = watch(leftMs);
    });
    const takeBack = whenAborted([caller], (reason) => ending.abort(reason));
    try {
      const result = await called(this.#call, attempt).finally(() => {
        attempt.end();
        attempt.whenExtended(() => undefined);
        takeBackTime?.();
        takeBack();
      });
      const wrong = accept === undefined ? "" : await orAborted(Promise.resolve(accept(result)), caller);
      return this.#answered(attempt, result, wrong ?? "");
    } catch (error) {
      return this.#failed(error, attempt, signal.reason === late);
    }
  }

  #answered(attempt: Try, result: T, wrong: unknown): Ended {
    if (typeof wrong !== "string") {
      throw new TypeError(`accept says in words what it has against an answer, or nothing; it gave a ${typeof wrong}`);
    }
    if (wrong !== "") {
      this.failure = { kind: "acceptance_failed", why: wrong };
      return { kind: "failed", attempt, seen: this.failure };
    }
    this.result = result;
    return { kind: "answered", attempt, validationResult: this.#options.accept === undefined ? "" : "accepted" };
  }

  /** What was thrown by a call or a wait means; what is no failure of a call is kept, to be thrown again. */
  #failed(error: unknown, attempt: Try | undefined, late = false): Ended {
    this.failure = this.#seen(error, attempt?.passedOn ?? false, late);
    return { kind: "failed", attempt, seen: this.failure };
  }

  #seen(error: unknown, passedOn: boolean, late: boolean): Seen {
    const { signal } = this.#options;
    if (signal?.aborted === true) {
      this.thrown = { error: signal.reason, cancelled: true };
      return { kind: "caller_cancelled" };
    }
    const seen = seenOfError(error);
    // Once its time is over, what a call says of being cancelled, or in words of its own, is the time-out.
    if (late && (seen === undefined || seen.kind === "caller_cancelled")) {
      return { kind: passedOn ? "broken_off" : "lost", why: "timed out" };
    }
    if (seen === undefined || isAbort(error)) {
      this.thrown = { error, cancelled: seen !== undefined };
      return { kind: "caller_cancelled" };
    }
    return passedOn && seen.kind !== "caller_cancelled" ? { kind: "broken_off", why: seen.why } : seen;
  }
}

/** What the call brings; or, a moment after its signal was aborted, the reason, if it does not say more by then. */
async function called<T>(call: Call<T>, attempt: Try): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const takeBack = whenAborted([attempt.signal], (reason) => {
      setImmediate(reject, reason);
    });
    new Promise<T>((begin) => {
      begin(call(attempt));
    })
      .then(resolve, reject)
      .finally(takeBack);
  });
}
