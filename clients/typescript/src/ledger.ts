/**
 * The ledger of side effects: what has an execution key is done once, however often a generation is tried again.
 *
 * @packageDocumentation
 */

import { jsonText } from "./json-text.js";

export { RedisStore, type RedisClient } from "./redis-store.js";
export { SqliteStore, type SqliteDatabase, type SqliteStatement } from "./sqlite-store.js";

/** What is known of a key. */
export interface Entry {
  /** How far it came. */
  readonly state: "pending" | "completed" | "failed";
  /** The result as JSON, or the name of the error; empty while it is pending. */
  readonly text: string;
}

/** Where entries are kept; each call is one atomic, durable step. */
export interface Store {
  /**
   * Enters the key as pending and brings undefined; or what it has, where it is known.
   *
   * @param again - whether what failed is entered anew
   */
  begin(key: string, again: boolean): Promise<Entry | undefined>;
  /** Puts the entry in the place of what the key has. */
  end(key: string, entry: Entry): Promise<void>;
}

/** The action was not run; `key` and `entry` say why. */
export class NotRun extends Error {
  override readonly name: string = "NotRun";
  /** The execution key. */
  readonly key: string;
  /** What is known of it. */
  readonly entry: Entry;

  /** @internal Ledgers make these. */
  constructor(key: string, entry: Entry, why: string) {
    super(`${why} (key ${key})`);
    this.key = key;
    this.entry = entry;
  }
}

/** It was begun and it is not known how it ended: another may be at it, or it crashed. Find out, and `settle` it. */
export class StillPending extends NotRun {
  override readonly name = "StillPending";
}

/** It failed before. Whether to do it again is a decision of its own: `once(…, { again: true })`. */
export class HasFailed extends NotRun {
  override readonly name = "HasFailed";
}

/** What was interrupted may have been done all the same. */
const INTERRUPTS = new Set(["AbortError", "TimeoutError"]);

/** Runs actions at most once per key. */
export class Ledger {
  readonly #store: Store;

  /** @param store - where entries are kept: SqliteStore, RedisStore, or one of your own */
  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The action's result as JSON holds it (an undefined one is null): of now, or of when it was run before.
   *
   * What it throws is noted as failed and thrown again. After an `AbortError` or `TimeoutError`, and where the result is no
   * JSON (TypeError), it stays pending, since it may have been done.
   *
   * @param key - its execution key
   * @param action - does it
   * @param options - `again`: whether to run what failed before
   * @throws StillPending where it was begun before and it is not known how it ended; it is never run twice
   * @throws HasFailed where it failed before
   */
  async once<T>(key: string, action: () => Promise<T> | T, { again = false } = {}): Promise<T> {
    const known = await this.#store.begin(key, again);
    if (known === undefined) return await this.#run(key, action);
    if (known.state === "completed") return JSON.parse(known.text) as T;
    if (known.state === "failed") throw new HasFailed(key, known, `it failed before: ${known.text}`);
    throw new StillPending(key, known, "it was begun before and has not ended");
  }

  /**
   * Says how a pending one ended, once you have found out.
   *
   * @param ended - its `result`, a JSON value; or that it has `failed`
   */
  async settle(key: string, ended: { readonly result: unknown } | { readonly failed: true }): Promise<void> {
    const entry: Entry =
      "failed" in ended
        ? { state: "failed", text: "settled by hand" }
        : { state: "completed", text: jsonText(ended.result) };
    await this.#store.end(key, entry);
  }

  async #run<T>(key: string, action: () => Promise<T> | T): Promise<T> {
    let result: T;
    try {
      result = await action();
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error;
      if (!INTERRUPTS.has(name)) await this.#store.end(key, { state: "failed", text: name });
      throw error;
    }
    const text = jsonText(result);
    await this.#store.end(key, { state: "completed", text });
    return JSON.parse(text) as T;
  }
}
