// The failover loop, without doing anything itself: it says what to do next and is told what came of it.
//
// The order of attempts, their time and the waits between them are those of clients/README.md; RouterClient.run carries
// them out.

import type { Ended, Step, Try } from "./attempts.js";
import { type Verdict, classify } from "./classification.js";
import type { Attempt } from "./generated/router_service/v1/report.js";
import type { Candidate } from "./generated/router_service/v1/route.js";
import type { Runtime } from "./runtime.js";
import { allowanceMs, fits, jitterMs } from "./time-budget.js";

/** Attempts in all where the request names no number. */
export const MAX_ATTEMPTS = 3;
/** An endpoint that could not be reached is tried once more where that became clear within this time. */
const AGAIN_WITHIN_MS = 1000;
/** What an unknown context window stands for: none is known to be larger. */
const ANY_WINDOW = 2 ** 32;

/** How a run ends; `refused` is no outcome of the loop, since a refusal tries nothing. */
export type LoopOutcome = "accepted" | "rejected" | "failed" | "deadline_exhausted" | "ambiguous" | "cancelled";

/** A candidate and what has become of it; `readyAt` is when its Retry-After is over, in ms of the run. */
interface Place {
  readonly candidate: Candidate;
  tried: boolean;
  triedAgain: boolean;
  readyAt: number | undefined;
}

/** What a loop goes by. */
export interface FailoverOptions {
  /** Those of the decision, best first; nothing else is tried. */
  readonly candidates: readonly Candidate[];
  /** Time and chance. */
  readonly runtime: Pick<Runtime, "clock" | "now" | "random">;
  /** When the run began, by the runtime's clock; the time that Decide took is part of it. */
  readonly begun: number;
  /** What could be spent on attempts then, in ms; undefined without a deadline. */
  readonly spendableMs?: number | undefined;
  /** Attempts in all, second tries on the same endpoint counted. */
  readonly maxAttempts?: number | undefined;
  /** Whether the operation may be sent again where it is not known what became of it. */
  readonly replayable?: boolean | undefined;
}

/** One run down a decision's candidates. */
export class Failover {
  /** What was tried, in order, as it is reported. */
  readonly attempts: Attempt[] = [];

  readonly #options: FailoverOptions;
  readonly #maxAttempts: number;
  readonly #places: readonly Place[];
  #again: Place | undefined;
  #retries = 0;
  /** After a request was too long for this window, only one known to be larger will do. */
  #window: number | undefined;
  /** Whether something was left out for want of time. */
  #short = false;
  #last: Verdict["failureClass"] = "";

  constructor(options: FailoverOptions) {
    this.#options = options;
    this.#maxAttempts = options.maxAttempts ?? MAX_ATTEMPTS;
    this.#places = options.candidates.map((candidate) => {
      return { candidate, tried: false, triedAgain: false, readyAt: undefined };
    });
  }

  /** What to do, one after the other; each step is answered by what came of it. Returns the outcome. */
  *steps(): Generator<Step, LoopOutcome, Ended | undefined> {
    while (this.attempts.length < this.#maxAttempts) {
      const next = this.#next();
      if (next === undefined) break;
      const { place, wait } = next;
      if (wait > 0 && (yield { kind: "wait", ms: wait }) !== undefined) return "cancelled";
      const allowed = this.#allowance(place, 0);
      if (allowed === undefined && this.#hasDeadline()) {
        this.#short = true; // it took longer to wake up, or just now
        continue;
      }
      if (place.tried) this.#retries += 1;
      place.tried = true;
      const { candidate } = place;
      const number = this.attempts.length + 1;
      const ended = yield { kind: "call", candidate, number, timeoutMs: allowed, restMs: this.#left() };
      if (ended?.attempt === undefined) return "cancelled"; // before it began
      if (ended.kind === "answered") {
        this.attempts.push(ended.attempt.told(undefined, ended.validationResult));
        return "accepted";
      }
      const { seen, attempt } = ended;
      const verdict = classify(seen, this.#options.runtime.now());
      this.attempts.push(attempt.told(verdict, seen.kind === "acceptance_failed" ? (seen.why ?? "") : ""));
      this.#last = verdict.failureClass;
      if (seen.kind === "caller_cancelled") return "cancelled";
      if (attempt.passedOn || !this.#goesOn(place, verdict, attempt)) return this.#ended();
    }
    return this.#short && this.attempts.length < this.#maxAttempts ? "deadline_exhausted" : this.#ended();
  }

  /** How it ended, by the class of the last attempt. */
  #ended(): LoopOutcome {
    if (this.#last === "invalid_response") return "rejected";
    return this.#last === "ambiguous" ? "ambiguous" : "failed";
  }

  #gone(): number {
    return Math.round(this.#options.runtime.clock() - this.#options.begun);
  }

  #left(): number | undefined {
    const { spendableMs } = this.#options;
    return spendableMs === undefined ? undefined : spendableMs - this.#gone();
  }

  #hasDeadline(): boolean {
    return this.#options.spendableMs !== undefined;
  }

  /** Those not tried yet that may be, down the list. */
  #fresh(): Place[] {
    return this.#places.filter((one) => !one.tried && this.#isWideEnough(one));
  }

  #isWideEnough({ candidate }: Place): boolean {
    return this.#window === undefined || (candidate.contextWindow ?? 0) > this.#window;
  }

  /** How long an attempt may take after the wait; undefined where it does not fit, and without a deadline. */
  #allowance(place: Place, wait: number): number | undefined {
    const left = this.#left();
    if (left === undefined) return undefined;
    const later = this.#fresh().filter((one) => one !== place);
    const needs = [place, ...later].map((one) => one.candidate.needMs);
    return allowanceMs(left - wait, needs, this.#maxAttempts - this.attempts.length);
  }

  #hasTime(place: Place, wait: number): boolean {
    return !this.#hasDeadline() || this.#allowance(place, wait) !== undefined;
  }

  /** The next to be tried, and how long to wait before; undefined where nobody is left. */
  #next(): { place: Place; wait: number } | undefined {
    const again = this.#again;
    this.#again = undefined;
    if (again !== undefined) {
      const wait = jitterMs(this.#retries, this.#options.runtime.random());
      if (this.#hasTime(again, wait)) return { place: again, wait };
      this.#short = true;
    }
    for (const place of this.#fresh()) {
      if (this.#hasTime(place, 0)) return { place, wait: 0 };
      this.#short = true;
      place.tried = true; // time only gets shorter
    }
    return this.#postponed();
  }

  /** With nobody else left: the first that is ready of those that asked for a pause which fits the time left. */
  #postponed(): { place: Place; wait: number } | undefined {
    const [gone, left] = [this.#gone(), this.#left()];
    const waiting = this.#places.flatMap((place) => (place.readyAt === undefined ? [] : { place, at: place.readyAt }));
    for (const { place, at } of waiting.sort((one, other) => one.at - other.at)) {
      const wait = Math.max(0, at - gone);
      place.readyAt = undefined;
      if (this.#isWideEnough(place) && fits(wait, place.candidate.needMs, left)) return { place, wait };
    }
    return undefined;
  }

  /** Notes what the verdict means for the candidates; whether anything may be tried after it. */
  #goesOn(place: Place, verdict: Verdict, attempt: Try): boolean {
    switch (verdict.then) {
      case "stop":
        return false;
      case "next_if_replayable":
        return this.#options.replayable ?? false;
      case "next_larger_context":
        this.#window = Math.max(this.#window ?? 0, place.candidate.contextWindow ?? ANY_WINDOW);
        return true;
      case "same_once":
        if (attempt.latencyMs < AGAIN_WITHIN_MS && !place.triedAgain) {
          place.triedAgain = true;
          this.#again = place;
        }
        return true;
      case "next_else_same":
        if (verdict.retryAfterMs !== undefined) place.readyAt = this.#gone() + verdict.retryAfterMs;
        return true;
      case "next":
        return true;
    }
  }
}
