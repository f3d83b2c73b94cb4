// Entries of a ledger in Redis or Valkey.

import type { Entry, Store } from "./ledger.js";

/** What is used of a client of the package redis. */
export interface RedisClient {
  /** Runs a script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Puts a value in the place of the key's. */
  set(key: string, value: string): Promise<unknown>;
}

// Enters a key as pending, or tells what it has: one step, since Redis runs a script alone.
const BEGIN = `
local known = redis.call('GET', KEYS[1])
if known and not (ARGV[1] == '1' and string.sub(known, 1, 7) == 'failed ') then return known end
redis.call('SET', KEYS[1], 'pending ')
return false
`;

/**
 * Entries in Redis or Valkey, for several machines, those with the Python client too. They are as durable as the server
 * is: `appendfsync always`.
 */
export class RedisStore implements Store {
  readonly #client: RedisClient;
  readonly #prefix: string;

  /**
   * @param client - a connected client of the package redis, which stays the caller's to close
   * @param prefix - what the names of the keys begin with
   */
  constructor(client: RedisClient, prefix = "router-ledger:") {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** As {@link Store} says. */
  async begin(key: string, again: boolean): Promise<Entry | undefined> {
    const known = await this.#client.eval(BEGIN, { keys: [this.#prefix + key], arguments: [again ? "1" : "0"] });
    if (known === null) return undefined;
    if (typeof known !== "string")
      throw new TypeError("Redis must answer in strings; give a client that maps no types");
    const [state = "", ...text] = known.split(" ");
    return { state: state as Entry["state"], text: text.join(" ") };
  }

  /** As {@link Store} says. */
  async end(key: string, entry: Entry): Promise<void> {
    await this.#client.set(this.#prefix + key, `${entry.state} ${entry.text}`);
  }
}
