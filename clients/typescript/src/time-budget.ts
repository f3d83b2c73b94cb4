// How long an attempt may take and how long to wait before it. All times are whole milliseconds.

const RESERVE_MS = 300;
/** At most a twentieth of the deadline is kept back. */
const RESERVE_SHARE = 20;
// A later attempt's allowance is 32/45 of the one before it.
const LATER = 32n;
const EARLIER = 45n;
const BASE_MS = 200;
const CAP_MS = 2000;
/** The longest Retry-After that is waited for where there is no deadline. */
const PATIENCE_MS = 60_000;

/** What can be spent on attempts: the deadline less what is kept back for the caller's own work and its checks. */
export function spendableMs(deadlineMs: number): number {
  return deadlineMs - Math.min(RESERVE_MS, Math.floor(deadlineMs / RESERVE_SHARE));
}

/** How `spendable` is divided over `attempts`, the first getting most. */
export function allowancesMs(spendable: number, attempts: number): number[] {
  const shares = Array.from({ length: attempts }, (_, i) => LATER ** BigInt(i) * EARLIER ** BigInt(attempts - 1 - i));
  const total = shares.reduce((sum, share) => sum + share, 0n);
  return shares.map((share) => Number((BigInt(spendable) * share) / total));
}

/**
 * How long the first of `needs` may take of the time that is `left`; undefined where it does not fit.
 *
 * The time is divided as the service divided it: the first is in, and each next one joins if every allowance still covers
 * its need.
 *
 * @param needs - those of the candidates that are left, the next to be tried first
 * @param attempts - how many of them can be tried at most
 */
export function allowanceMs(left: number, needs: Iterable<number>, attempts: number): number | undefined {
  let chosen: readonly number[] = [];
  let allowed: number | undefined;
  for (const need of needs) {
    if (chosen.length === attempts) break;
    const longer = [...chosen, need];
    const divided = allowancesMs(left, longer.length);
    const covers = longer.every((one, i) => (divided[i] ?? 0) >= one);
    if (covers) [chosen, allowed] = [longer, divided[0]];
    else if (chosen.length === 0) return undefined;
  }
  return allowed;
}

/** Full jitter: how long to wait before a retry, `retries` having gone before and `draw` from 0 to 1, 1 excluded. */
export function jitterMs(retries: number, draw: number): number {
  return Math.floor(draw * Math.min(CAP_MS, BASE_MS * 2 ** Math.min(retries, 16)));
}

/** Whether an attempt still fits after a wait; without a deadline (`left` undefined) patience ends some time too. */
export function fits(wait: number, need: number, left: number | undefined): boolean {
  return left === undefined ? wait <= PATIENCE_MS : wait + need <= left;
}
