// Entries of a ledger in a SQLite file.

import type { Entry, Store } from "./ledger.js";

/** What is used of a database of better-sqlite3, or of a `DatabaseSync` of node:sqlite. */
export interface SqliteDatabase {
  /** Runs statements. */
  exec(sql: string): unknown;
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement;
}

/** What is used of a prepared statement of theirs. */
export interface SqliteStatement {
  /** Runs it, and tells how many rows it changed. */
  run(...values: (string | number)[]): { readonly changes: number | bigint };
  /** Runs it, and brings the first row as an object; undefined where there is none. */
  get(...values: (string | number)[]): unknown;
}

// What is pending must be so after a power cut too; processes wait for each other, half a minute at most.
const SETUP = `
PRAGMA busy_timeout = 30000;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS ledger (key TEXT PRIMARY KEY, state TEXT, text TEXT);
`;
const ENTER = `
INSERT INTO ledger VALUES (?, 'pending', '') ON CONFLICT (key) DO UPDATE SET state = 'pending', text = ''
WHERE ? AND state = 'failed'
`;

/** Entries in a SQLite file, for the processes of one machine, those of the Python client too. */
export class SqliteStore implements Store {
  readonly #enter: SqliteStatement;
  readonly #find: SqliteStatement;
  readonly #put: SqliteStatement;

  /** @param database - of better-sqlite3 or node:sqlite; it stays the caller's to close */
  constructor(database: SqliteDatabase) {
    database.exec(SETUP);
    this.#enter = database.prepare(ENTER);
    this.#find = database.prepare("SELECT state, text FROM ledger WHERE key = ?");
    this.#put = database.prepare("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?)");
  }

  /** As {@link Store} says. */
  async begin(key: string, again: boolean): Promise<Entry | undefined> {
    const { changes } = await Promise.resolve(this.#enter.run(key, Number(again)));
    return Number(changes) === 1 ? undefined : (this.#find.get(key) as Entry);
  }

  /** As {@link Store} says. */
  async end(key: string, entry: Entry): Promise<void> {
    await Promise.resolve(this.#put.run(key, entry.state, entry.text));
  }
}
