// Tells reports in the background, and what is left of them on closing.

import { after, whenAborted } from "./aborting.js";
import { RouterError } from "./errors.js";
import type { Report } from "./generated/router_service/v1/report.js";
import { Outbox, type OutboxOptions, type ReportsLost } from "./reports.js";

/** How long closing waits for the reports. */
const FLUSH_MS = 5000;

/** Sends one report; rejects with a RouterError, or with the signal's reason. */
export type SendReport = (report: Report, signal: AbortSignal) => Promise<unknown>;

/** Those of clients that nobody closed: what they hold is delivered before the process ends by itself. */
const open = new Set<ReportQueue>();
function closeAll(): void {
  for (const one of open) void one.close();
}

/** Sends reports one after the other. While the service is away nothing here keeps the process from ending. */
export class ReportQueue {
  /** The reports that wait, and counts of what became of the others. */
  readonly outbox: Outbox;

  readonly #send: SendReport;
  readonly #stop = new AbortController();
  #working: Promise<void> | undefined;
  #closed = false;

  /** @internal Clients make these. */
  constructor(send: SendReport, options: OutboxOptions) {
    this.#send = send;
    this.outbox = new Outbox(options);
  }

  /** Takes a report, to be sent soon; once it is closed the report is dropped, which is counted and told. */
  put(report: Report): void {
    if (!this.outbox.put(report, this.#closed)) return;
    if (open.size === 0) process.on("beforeExit", closeAll);
    open.add(this);
    this.#working ??= this.#work();
  }

  /** Waits until all are sent, so many milliseconds at most; whether they are. */
  async flush(ms: number = FLUSH_MS): Promise<boolean> {
    if (this.#working === undefined) return true;
    let takeBack = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      takeBack = after(ms, resolve);
    });
    await Promise.race([this.#working, late]).finally(takeBack);
    return this.outbox.waiting.length === 0;
  }

  /** Sends what still waits, for so long at most; what could not be delivered, if anything. Again: nothing. */
  async close(ms: number = FLUSH_MS): Promise<ReportsLost | undefined> {
    if (this.#closed) return undefined;
    this.#closed = true;
    await this.flush(ms);
    this.#stop.abort();
    if (open.delete(this) && open.size === 0) process.off("beforeExit", closeAll);
    return this.outbox.lost();
  }

  async #work(): Promise<void> {
    await Promise.resolve(); // so that #working is set before it is taken back
    const { waiting } = this.outbox;
    while (!this.#stop.signal.aborted && waiting[0] !== undefined) {
      const error = await this.#failure(waiting[0]);
      // Closing has taken what still waited: this one is among it, since nobody knows what became of it.
      if (waiting.length === 0) break;
      this.outbox.answered(error);
      if (this.outbox.waitMs > 0) await this.#pause(this.outbox.waitMs);
    }
    this.#working = undefined;
  }

  async #failure(report: Report): Promise<RouterError | undefined> {
    try {
      await this.#send(report, this.#stop.signal);
      return undefined;
    } catch (error) {
      // One report must never end the telling of the others, whatever is wrong with it.
      return error instanceof RouterError ? error : new RouterError(String(error), { code: "UNKNOWN", cause: error });
    }
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, ms).unref();
      whenAborted([this.#stop.signal], () => {
        resolve();
      });
    });
  }
}
