// Reports on their way: a bounded queue, counts of what became of them, and what could not be told.

import { LimitExceeded, type RouterError, RouterUnavailable, TraceNotFound, Unauthenticated } from "./errors.js";
import type { Report } from "./generated/router_service/v1/report.js";

/** Reports that wait at most. */
export const LIMIT = 1000;
const BACKOFF_BASE_MS = 200;
const BACKOFF_CAP_MS = 5000;
/** How often a report is sent that meets a limit: one that is itself too large must not hold up the others for ever. */
const LIMITED_TIMES = 10;

/** Thrown on closing: these reports were not delivered. They may be sent again, by any client; each counts once. */
export class ReportsLost extends Error {
  override readonly name = "ReportsLost";
  /** Those that still waited. */
  readonly reports: readonly Report[];
  /** How many more had found no room. */
  readonly dropped: number;

  /** @internal Closing makes these. */
  constructor(reports: readonly Report[], dropped: number) {
    const all = reports.length + dropped;
    super(`${String(all)} reports were not delivered, ${String(dropped)} of them for lack of room`);
    this.reports = reports;
    this.dropped = dropped;
  }
}

/** What an outbox is made with. */
export interface OutboxOptions {
  /** A random number from 0 to 1, for the waits between repetitions. */
  readonly random: () => number;
  /** Told of what is dropped, refused or lost. */
  readonly warn: (message: string) => void;
  /** Reports that wait at most. */
  readonly limit?: number | undefined;
}

/** The reports that wait, and counts of what became of the others. */
export class Outbox {
  /** Those that wait, the next to be sent first. */
  readonly waiting: Report[] = [];
  /** Reports that wait at most. */
  limit: number;
  /** Those that were answered. */
  delivered = 0;
  /** Those that were answered with an error that no repetition cures. */
  refused = 0;
  /** Those that found no room. */
  dropped = 0;
  /** Those that met a service without a store. */
  unwanted = 0;
  /** How long to wait before the next one is sent, in milliseconds. */
  waitMs = 0;

  readonly #random: () => number;
  readonly #warn: (message: string) => void;
  #failures = 0;
  #limited = 0;
  #lost = false;

  /** @internal Clients make these. */
  constructor({ random, warn, limit = LIMIT }: OutboxOptions) {
    this.#random = random;
    this.#warn = warn;
    this.limit = limit;
  }

  /** @internal Takes a report, and says whether it did; one that finds no room is counted and told. */
  put(report: Report, closed: boolean): boolean {
    const given: unknown = report;
    if (typeof given !== "object" || given === null) throw new TypeError(`a Report is told, not ${String(given)}`);
    if (!closed && this.waiting.length < this.limit) {
      this.waiting.push(report);
      return true;
    }
    this.dropped += 1;
    const why = closed ? "the client is closed" : `${String(this.limit)} reports wait already`;
    this.#warn(`report of trace ${report.traceId} dropped: ${why}`);
    return false;
  }

  /** @internal Notes what came of sending the first one: it goes, unless the service could not be reached or was busy. */
  answered(error: RouterError | undefined): void {
    const unwanted = error?.reason === "ERROR_REASON_NO_STORE";
    // A token that cannot be had for now is no answer of the service's either.
    const hasNoToken = error instanceof Unauthenticated && error.reason === "";
    const isAway = (error instanceof RouterUnavailable && !unwanted) || hasNoToken;
    if (error instanceof LimitExceeded) this.#limited += 1;
    if (isAway || (error instanceof LimitExceeded && this.#limited < LIMITED_TIMES)) {
      this.#lost ||= isAway;
      this.waitMs = this.#random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(this.#failures, 8));
      this.#failures += 1;
      return;
    }
    const sentBefore = this.#lost;
    [this.#lost, this.#failures, this.#limited, this.waitMs] = [false, 0, 0, 0];
    const report = this.waiting.shift();
    // Under a retention of 0 a report ends its trace: where the answer to the first sending was lost, this is it.
    if (error === undefined || (sentBefore && error instanceof TraceNotFound)) this.delivered += 1;
    else if (unwanted) this.unwanted += 1;
    else {
      this.refused += 1;
      this.#warn(`report of trace ${report?.traceId ?? ""} refused: ${error.message}`);
    }
  }

  /** @internal What closing has to tell: those that still wait and those that were dropped; undefined without any. */
  lost(): ReportsLost | undefined {
    if (this.waiting.length === 0 && this.dropped === 0) return undefined;
    const loss = new ReportsLost(this.waiting.splice(0), this.dropped);
    this.#warn(loss.message);
    return loss;
  }
}
