// Where time, sleep and chance come from, so that a run can be tested without waiting.

import { setTimeout as sleep } from "node:timers/promises";

/** Time, sleep and chance of a run. */
export interface Runtime {
  /** Milliseconds of a clock that is never set back. */
  readonly clock: () => number;
  /** The time of day. */
  readonly now: () => Date;
  /** Waits so many milliseconds; rejects as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A number from 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/** The real ones. */
export const RUNTIME: Runtime = {
  clock: () => performance.now(),
  now: () => new Date(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, { signal });
  },
  random: () => Math.random(),
};
