// One attempt: what a call is given, what came of it, and what is reported of it.

import type { Verdict } from "./classification.js";
import type { Attempt } from "./generated/router_service/v1/report.js";
import type { Candidate, Decision } from "./generated/router_service/v1/route.js";
import { type Fields, attemptMessage } from "./messages.js";
import type { Runtime } from "./runtime.js";
import type { Seen } from "./seen.js";
import { firstCharacters } from "./text.js";

/** Characters of a text that is reported. */
const TEXT_MAX = 200;
const UINT32_MAX = 2 ** 32 - 1;

/** What an endpoint says of its answer, for the report. What is left out is "not told". */
export interface AttemptFacts {
  /** Tokens of the prompt, as the endpoint counted them. */
  inputTokens?: number | null | undefined;
  /** Tokens of the answer, as the endpoint counted them. */
  outputTokens?: number | null | undefined;
  /** What it cost in the catalogue's currency, where you know better than tokens × prices. */
  cost?: number | null | undefined;
  /** Why the answer ended: `stop`, `length`, … */
  finishReason?: string | null | undefined;
  /** The status of the answer. */
  statusCode?: number | null | undefined;
}

/** What an attempt is made of. */
export interface TryFacts {
  readonly candidate: Candidate;
  readonly number: number;
  readonly timeoutMs: number | undefined;
  /** All that can still be spent, in ms: this attempt's time and that of those after it. */
  readonly restMs: number | undefined;
  readonly decision: Decision;
  readonly signal: AbortSignal;
  readonly runtime: Pick<Runtime, "clock" | "now">;
}

/** What a call is given. */
export class Try {
  /** Where to send the request: its endpointId, model, provider, region and so on. */
  readonly candidate: Candidate;
  /** 1 for the first attempt; the attempt id of the report. */
  readonly number: number;
  /** What lists the candidate: its traceId, policyId, sentence and so on. */
  readonly decision: Decision;
  /**
   * Aborted when the time is over or the caller cancels: pass it on to what you call (`fetch(url, { signal })`). Its reason
   * is a `TimeoutError`, or the caller's own.
   */
  readonly signal: AbortSignal;
  readonly #clock: () => number;
  readonly #begun: number;
  readonly #startedAt: Date;
  readonly #allowedMs: number | undefined;
  readonly #restMs: number | undefined;
  #timeoutMs: number | undefined;
  #passedOn = false;
  #extended: (leftMs: number) => void = () => undefined;
  #ended: number | undefined;
  #firstToken: number | undefined;
  #facts: Fields<Attempt> = {};

  /** @internal Runs make these. */
  constructor({ candidate, number, timeoutMs, restMs, decision, signal, runtime }: TryFacts) {
    this.candidate = candidate;
    this.decision = decision;
    this.number = number;
    this.signal = signal;
    this.#allowedMs = timeoutMs;
    this.#timeoutMs = timeoutMs;
    this.#restMs = restMs;
    this.#clock = runtime.clock;
    this.#begun = runtime.clock();
    this.#startedAt = runtime.now();
  }

  /** The candidate's endpointId. */
  get endpointId(): string {
    return this.candidate.endpointId;
  }

  /** How long the call may take, in milliseconds; undefined without a deadline. */
  get timeoutMs(): number | undefined {
    return this.#timeoutMs;
  }

  /** How long the call may still take from now on, in milliseconds; undefined without a deadline. */
  get leftMs(): number | undefined {
    return this.#timeoutMs === undefined ? undefined : Math.max(0, this.#timeoutMs - (this.#clock() - this.#begun));
  }

  /**
   * Set it as soon as a part of the answer went on to somebody: nothing is tried after that. So the call may then take all
   * the time that is left, of which a share was kept for the attempts after it.
   */
  get passedOn(): boolean {
    return this.#passedOn;
  }

  set passedOn(value: boolean) {
    const isLonger = value && !this.#passedOn && this.#timeoutMs !== undefined && this.#restMs !== undefined;
    this.#passedOn = value;
    if (!isLonger) return;
    this.#timeoutMs = this.#restMs;
    this.#extended(this.leftMs ?? 0);
  }

  /** @internal Said by the run, which watches over the time: called with what is left where there is more of it. */
  whenExtended(extended: (leftMs: number) => void): void {
    this.#extended = extended;
  }

  /** How long the call took, or has taken until now, in milliseconds. */
  get latencyMs(): number {
    return this.#sinceBegun(this.#ended ?? this.#clock());
  }

  /** Say this when the first token came: it is what the service learns an endpoint's latency from. */
  firstToken(): void {
    this.#firstToken ??= this.#sinceBegun(this.#clock());
  }

  /**
   * Tells what the endpoint says of its answer, for the report; may be called again with more.
   *
   * @throws TypeError for what a report cannot hold: a count of tokens that is no whole number
   */
  tell(facts: AttemptFacts): void {
    const told = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
    const all = { ...this.#facts, ...Object.fromEntries(told) };
    attemptMessage(all);
    this.#facts = all;
  }

  /** @internal Said by the run when the call is over; what acceptance does after it is no latency of the endpoint. */
  end(): void {
    this.#ended ??= this.#clock();
  }

  /** @internal What is reported of it: a success, or what the verdict says; with what acceptance said of it. */
  told(verdict: Verdict | undefined, validationResult: string): Attempt {
    return attemptMessage({
      attemptId: String(this.number),
      endpointId: this.endpointId,
      startedAt: this.#startedAt,
      latencyMs: this.latencyMs,
      timeoutMs: this.#allowedMs, // what it began with
      timeToFirstTokenMs: this.#firstToken,
      ...this.#facts,
      ...(verdict && {
        failureClass: verdict.failureClass,
        statusCode: verdict.statusCode ?? this.#facts.statusCode,
        errorCode: verdict.errorCode,
        retryAfterMs: verdict.retryAfterMs,
      }),
      validationResult: firstCharacters(validationResult, TEXT_MAX),
    });
  }

  #sinceBegun(moment: number): number {
    return Math.min(UINT32_MAX, Math.max(0, Math.round(moment - this.#begun)));
  }
}

/** Make an attempt on this candidate, of so many milliseconds at most, and say what came of it. */
export interface CallStep {
  readonly kind: "call";
  readonly candidate: Candidate;
  readonly number: number;
  readonly timeoutMs: number | undefined;
  /** All that can still be spent, in ms. */
  readonly restMs: number | undefined;
}

/** Wait so many milliseconds, and say nothing, or what came of it where the caller cancelled meanwhile. */
export interface WaitStep {
  readonly kind: "wait";
  readonly ms: number;
}

/** What to do next. */
export type Step = CallStep | WaitStep;

/** A call that brought an answer; `validationResult` is `accepted`, or empty where acceptance was not asked. */
export interface Answered {
  readonly kind: "answered";
  readonly attempt: Try;
  readonly validationResult: string;
}

/** A call that brought no answer, or one that acceptance has something against; of a wait there is no `attempt`. */
export interface Failed {
  readonly kind: "failed";
  readonly attempt: Try | undefined;
  readonly seen: Seen;
}

/** What came of a step. */
export type Ended = Answered | Failed;
