// Streams of requests: nothing is taken that the service has no room for, and nothing is left open.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { RouterClient } from "@router-service/client";

import { ScriptedService } from "./scripted.js";

/** Requests without end, of 1 kB each: how many were taken, and whether they were let go. */
class Endless {
  taken = 0;
  over = false;

  async *[Symbol.asyncIterator](): AsyncGenerator<object> {
    try {
      for (;;) {
        this.taken += 1;
        yield { requestId: "x".repeat(1000) };
        if (this.taken % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      this.over = true;
    }
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition() && i < 1000; i += 1) await sleep(10);
  assert.ok(condition());
}

describe("a stream of requests", () => {
  test("takes no more than the service has room for", async () => {
    await using service = await ScriptedService.start();
    service.isDeaf = true;
    const router = new RouterClient(service.target);
    const items = new Endless();
    const asking = assert.rejects(router.decideStream(items).next(), { message: "the client is closed" });
    await until(() => items.taken > 100);
    let before = -1;
    while (before !== items.taken) {
      before = items.taken;
      await sleep(300);
    }
    assert.ok(items.taken < 20_000, `${items.taken} kB are on their way to a service that takes nothing`);
    await router.close();
    await asking;
    await until(() => items.over);
  });

  test("lets the requests go where nobody reads on", async () => {
    await using service = await ScriptedService.start();
    await using router = new RouterClient(service.target);
    const items = new Endless();
    for await (const answer of router.decideStream(items)) {
      assert.equal(answer.requestId.length, 1000);
      break;
    }
    await until(() => items.over);
  });

  test("answers each in its order, and ends with them", async () => {
    await using service = await ScriptedService.start();
    await using router = new RouterClient(service.target);
    const ids = Array.from({ length: 2000 }, (_, i) => String(i));
    const answered = [];
    for await (const { requestId } of router.decideStream(ids.map((id) => ({ requestId: id }))))
      answered.push(requestId);
    assert.deepEqual(answered, ids);
  });
});
