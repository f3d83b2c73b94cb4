// Run: what came of a request, with its decision, attempts and report.

import type { Attempt, Report } from "./generated/router_service/v1/report.js";
import type { Decision, Refusal } from "./generated/router_service/v1/route.js";
import type { LoopOutcome } from "./failover.js";
import type { Seen } from "./seen.js";

/**
 * How a run ended: `accepted`, `rejected` (the last answer failed acceptance), `failed`, `deadline_exhausted`,
 * `ambiguous` (it is not known whether the request was carried out), `cancelled`; or `refused`, where the decision was a
 * refusal and nothing was tried.
 */
export type Outcome = LoopOutcome | "refused";

/** What a run holds. */
export interface RunFacts<T> {
  readonly outcome: Outcome;
  readonly result: T | undefined;
  readonly decision: Decision | undefined;
  readonly refusal: Refusal | undefined;
  readonly attempts: readonly Attempt[];
  readonly report: Report | undefined;
  readonly failure: Seen | undefined;
}

/** What came of a request. */
export class Run<T> implements RunFacts<T> {
  /** How it ended. */
  readonly outcome: Outcome;
  /** What the call returned; undefined unless accepted. */
  readonly result: T | undefined;
  /** The failover list and why. */
  readonly decision: Decision | undefined;
  /** The refusal in its place. */
  readonly refusal: Refusal | undefined;
  /** What was tried, in order, as reported. */
  readonly attempts: readonly Attempt[];
  /** What the service is told in the background; undefined of a refusal or an inline request. */
  readonly report: Report | undefined;
  /** What was seen of the last attempt that failed, for a proxy to pass on. */
  readonly failure: Seen | undefined;

  /** @internal Runs are made by RouterClient.run. */
  constructor(facts: RunFacts<T>) {
    this.outcome = facts.outcome;
    this.result = facts.result;
    this.decision = facts.decision;
    this.refusal = facts.refusal;
    this.attempts = facts.attempts;
    this.report = facts.report;
    this.failure = facts.failure;
  }

  /**
   * The result.
   *
   * @throws NotAnswered where there is none
   */
  answer(): T {
    if (this.outcome !== "accepted") throw new NotAnswered(this);
    return this.result as T; // accepted: it is what the call returned, undefined included
  }
}

/** Thrown by {@link Run.answer}: no endpoint brought an answer that was accepted; `run` tells all of it. */
export class NotAnswered extends Error {
  override readonly name = "NotAnswered";
  /** What came of the request. */
  readonly run: Run<unknown>;

  /** @internal Runs make these. */
  constructor(run: Run<unknown>) {
    const tried = run.attempts.map((one) => `${one.endpointId} (${what(one)})`).join(", ") || "none";
    super(`${run.outcome}: ${run.refusal?.message ?? `tried: ${tried}`}`);
    this.run = run;
  }
}

function what({ failureClass, statusCode, errorCode }: Attempt): string {
  const told = [failureClass, statusCode === undefined ? "" : String(statusCode), errorCode];
  return told.filter((one) => one !== "").join(" ") || "answered";
}
