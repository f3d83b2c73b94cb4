// The ledger: once is once, through processes and crashes, in SQLite and in Redis, together with the Python client.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { after, before, describe, test } from "node:test";

import { executionKey } from "@router-service/client";
import {
  HasFailed,
  Ledger,
  RedisStore,
  type SqliteDatabase,
  SqliteStore,
  StillPending,
  type Store,
} from "@router-service/client/ledger";
import Database from "better-sqlite3";
import { createClient } from "redis";

import { NO_PYTHON, PYTHON } from "./python.js";
import { NO_REDIS, RedisServer } from "./redis-server.js";

const KEY = executionKey("order-17", "pay", { amount: 3 });
const PACKAGE = new URL("..", import.meta.url);

/** A store, how another process opens it in either language, and how it is closed. */
interface Place {
  readonly store: Store;
  readonly script: string;
  readonly python: string;
  readonly close: () => Promise<void>;
}

async function sqlitePlace(): Promise<Place> {
  const path = JSON.stringify(join(mkdtempSync(join(tmpdir(), "ledger-")), "ledger.db"));
  const database = new Database(JSON.parse(path) as string);
  return await Promise.resolve({
    store: new SqliteStore(database),
    script: `
      import Database from "better-sqlite3";
import { createClient } from "redis";
      import { SqliteStore } from "@router-service/client/ledger";
      const store = new SqliteStore(new Database(${path}));
    `,
    python: `from router_service_client.ledger import SqliteStore\nstore = SqliteStore(${path})`,
    close: async () => await Promise.resolve(void database.close()),
  });
}

async function redisPlace(server: RedisServer): Promise<Place> {
  const client = await createClient({ url: server.url }).connect();
  await client.flushAll();
  const url = JSON.stringify(server.url);
  return {
    store: new RedisStore(client),
    script: `
      import { createClient } from "redis";
      import { RedisStore } from "@router-service/client/ledger";
      const store = new RedisStore(await createClient({ url: ${url} }).connect());
    `,
    python:
      "import redis\nfrom router_service_client.ledger import RedisStore\n" +
      `store = RedisStore(redis.Redis.from_url(${url}))`,
    close: async () => await client.close(),
  };
}

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(program: string, args: readonly string[]): Promise<Ended> {
  return await new Promise((resolve) => {
    execFile(program, args, { cwd: PACKAGE, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ signal: error?.signal ?? null, stdout, stderr });
    });
  });
}

async function node(script: string): Promise<Ended> {
  return await run(process.execPath, ["--input-type=module", "--eval", script]);
}

function held(name: string, skip: string | false, open: () => Promise<Place>): void {
  describe(`a ledger in ${name}`, { skip }, () => {
    /** A test with a store of its own. */
    const of = (
      what: string,
      body: (ledger: Ledger, place: Place) => Promise<void>,
      skipped: string | false = false,
    ): void => {
      test(what, { skip: skipped }, async () => {
        const place = await open();
        try {
          await body(new Ledger(place.store), place);
        } finally {
          await place.close();
        }
      });
    };

    of("returns what is completed and does not run it again", async (ledger) => {
      let ran = 0;
      const receipt = { receipt: "ä b", sum: [1, null] };
      for (let i = 0; i < 3; i += 1) {
        const told = await ledger.once(KEY, async () => {
          ran += 1;
          return await Promise.resolve(receipt);
        });
        assert.deepEqual(told, receipt);
      }
      assert.equal(ran, 1);
      assert.equal(await ledger.once<unknown>("other", () => undefined), null);
      const today = new Date(0);
      assert.equal(await ledger.once<unknown>("date", () => today), today.toJSON(), "the same now as later on");
    });

    of("runs again what failed only where that was decided", async (ledger) => {
      const failing = (): never => {
        throw new RangeError("secret");
      };
      await assert.rejects(ledger.once(KEY, failing), RangeError);
      await assert.rejects(
        ledger.once(KEY, () => 1),
        { name: "HasFailed", message: /^it failed before: RangeError \(/ },
      );
      assert.equal(await ledger.once(KEY, () => 1, { again: true }), 1);
      assert.equal(await ledger.once(KEY, () => 2, { again: true }), 1);
    });

    of("leaves pending what was interrupted, until it is settled", async (ledger) => {
      const interrupted = (): void => AbortSignal.abort().throwIfAborted();
      await assert.rejects(ledger.once<unknown>(KEY, interrupted), { name: "AbortError" });
      for (const again of [false, true]) {
        await assert.rejects(
          ledger.once(KEY, () => 1, { again }),
          (error) => {
            assert.ok(error instanceof StillPending);
            assert.deepEqual([error.key, { ...error.entry }], [KEY, { state: "pending", text: "" }]);
            return true;
          },
        );
      }
      await ledger.settle(KEY, { result: 7 });
      assert.equal(await ledger.once(KEY, () => 1), 7);
      await assert.rejects(ledger.once<unknown>("other", interrupted), { name: "AbortError" });
      await ledger.settle("other", { failed: true });
      await assert.rejects(
        ledger.once("other", () => 1),
        HasFailed,
      );
    });

    for (const lost of [5n, () => 1, NaN, new Map(), { deep: [Infinity] }, Symbol("s")]) {
      of(`leaves pending what was done and brings no JSON: ${inspect(lost)}`, async (ledger) => {
        await assert.rejects(
          ledger.once<unknown>(KEY, () => lost),
          TypeError,
        );
        await assert.rejects(
          ledger.once(KEY, () => 1),
          StillPending,
        );
      });
    }

    of("runs one of many at once", async (ledger) => {
      let ran = 0;
      let go = (): void => undefined;
      const refused = new Promise<void>((resolve) => {
        go = resolve;
      });
      const slow = async (): Promise<number> => {
        ran += 1;
        await refused;
        return 5;
      };
      const ask = async (): Promise<unknown> => {
        try {
          return await ledger.once(KEY, slow);
        } catch (error) {
          assert.ok(error instanceof StillPending);
          go();
          return undefined;
        }
      };
      const answers = await Promise.all(Array.from({ length: 16 }, ask));
      assert.equal(ran, 1);
      assert.deepEqual(
        answers.filter((one) => one !== undefined),
        [5],
      );
      assert.equal(await ledger.once(KEY, slow), 5);
    });

    of("never runs twice what a crash cut off between pending and completed", async (ledger, place) => {
      const done = join(mkdtempSync(join(tmpdir(), "done-")), "done");
      // Does it, and is killed before it can say so.
      const crash = `${place.script}
        import { appendFileSync } from "node:fs";
        import { Ledger } from "@router-service/client/ledger";
        await new Ledger(store).once(${JSON.stringify(KEY)}, () => {
          appendFileSync(${JSON.stringify(done)}, "paid\\n");
          process.kill(process.pid, "SIGKILL");
          return new Promise(() => setInterval(() => undefined, 1000));
        });
      `;
      assert.equal((await node(crash)).signal, "SIGKILL");
      assert.match((await node(crash)).stderr, /StillPending: it was begun before and has not ended/);
      assert.equal(readFileSync(done, "utf8"), "paid\n");
      await assert.rejects(
        ledger.once(KEY, () => 1),
        StillPending,
      );
    });

    of(
      "shares its entries with the Python client, both ways",
      async (ledger, place) => {
        const python = async (code: string): Promise<Ended> =>
          await run(PYTHON, [
            "-c",
            `${place.python}\nfrom router_service_client.ledger import *\nledger = Ledger(store)\n${code}`,
          ]);
        const receipt = { receipt: "ä b", sum: [1, null] };
        await ledger.once(KEY, () => receipt);
        const asked = await python(`import json; print(json.dumps(ledger.once("${KEY}", lambda: 1)))`);
        assert.deepEqual(JSON.parse(asked.stdout), receipt, asked.stderr);
        await python('ledger.once("theirs", lambda: {"sum": [1.5, None], "name": "ö"})');
        assert.deepEqual(await ledger.once<unknown>("theirs", () => 1), { sum: [1.5, null], name: "ö" });
        await assert.rejects(
          ledger.once("mine", () => {
            throw new RangeError("m");
          }),
        );
        assert.match(
          (await python('ledger.once("mine", lambda: 1)')).stderr,
          /HasFailed: it failed before: RangeError/,
        );
        assert.match((await python('ledger.once("zero", lambda: 1 // 0)')).stderr, /ZeroDivisionError/);
        await assert.rejects(
          ledger.once("zero", () => 1),
          /it failed before: ZeroDivisionError/,
        );
        const killed = "import os, signal; ledger.once('killed', lambda: os.kill(os.getpid(), signal.SIGKILL))";
        assert.equal((await python(killed)).signal, "SIGKILL");
        await assert.rejects(
          ledger.once("killed", () => 1),
          StillPending,
        );
        await ledger.settle("killed", { result: null });
        assert.equal((await python('print(ledger.once("killed", lambda: 1))')).stdout, "None\n");
      },
      NO_PYTHON,
    );
  });
}

held("SQLite", false, sqlitePlace);

describe("with a Redis", { skip: NO_REDIS }, () => {
  let server: RedisServer;
  before(async () => {
    server = await RedisServer.start();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
  });
  held("Redis", false, async () => await redisPlace(server));
});

// From Node 22.13 on; the types here are those of Node 20.
const BUILT_IN = process.getBuiltinModule("node:sqlite" as string) as
  { DatabaseSync: new (path: string) => SqliteDatabase } | undefined;

test("node:sqlite will do too", { skip: BUILT_IN === undefined ? "this Node has none" : false }, async () => {
  assert.ok(BUILT_IN !== undefined);
  const ledger = new Ledger(new SqliteStore(new BUILT_IN.DatabaseSync(":memory:")));
  assert.equal(await ledger.once(KEY, () => 1), 1);
  assert.equal(await ledger.once(KEY, () => 2), 1);
});

test("what the stores say of Redis' answers", async () => {
  const bytes = new RedisStore({
    eval: async () => await Promise.resolve(Buffer.from("pending ")),
    set: async () => await Promise.resolve(),
  });
  await assert.rejects(bytes.begin(KEY, false), /Redis must answer in strings/);
});
