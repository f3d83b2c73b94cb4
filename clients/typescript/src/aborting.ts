// Time-outs and cancellation, as promises.

import { setMaxListeners } from "node:events";

/** The longest time that a timer of Node can hold; one that is set for longer goes off at once. */
const TIMER_MAX = 2 ** 31 - 1;

/** Calls `then` with the reason once one of the signals is aborted, at most once; what is returned takes it back. */
export function whenAborted(
  signals: readonly (AbortSignal | undefined)[],
  then: (reason: unknown) => void,
): () => void {
  const given = signals.filter((one) => one !== undefined);
  const abort = (): void => {
    takeBack();
    then(given.find((one) => one.aborted)?.reason);
  };
  const takeBack = (): void => {
    for (const one of given) one.removeEventListener("abort", abort);
  };
  if (given.some((one) => one.aborted)) {
    abort();
    return takeBack;
  }
  // Many runs may share one signal. That is no leak, since each takes back what it added; Node would warn of one.
  setMaxListeners(0, ...given);
  for (const one of given) one.addEventListener("abort", abort);
  return takeBack;
}

/** Calls `then` after so many milliseconds, however many; what is returned takes it back. */
export function after(ms: number, then: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (left: number): void => {
    timer = left > TIMER_MAX ? setTimeout(wait, TIMER_MAX, left - TIMER_MAX) : setTimeout(then, left);
  };
  wait(ms);
  return () => {
    clearTimeout(timer);
  };
}

/** What a promise brings; or the reason as soon as a signal is aborted, after which nobody looks at the promise. */
export async function orAborted<T>(work: Promise<T>, ...signals: readonly (AbortSignal | undefined)[]): Promise<T> {
  return await new Promise((resolve, reject) => {
    const takeBack = whenAborted(signals, reject);
    work.then(resolve, reject).finally(takeBack);
  });
}

/** The same, and no longer than so many milliseconds; without a number, however long it takes. */
export async function inTime<T>(
  work: Promise<T>,
  ms: number | undefined,
  late: () => Error,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<T> {
  if (ms === undefined) return await orAborted(work, ...signals);
  const over = new AbortController();
  const takeBack = after(ms, () => {
    over.abort(late());
  });
  return await orAborted(work, over.signal, ...signals).finally(takeBack);
}
