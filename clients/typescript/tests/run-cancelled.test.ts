// How a run ends that is cancelled: so is its call, and it is reported so.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { CallFailed, type Try } from "@router-service/client";

import { Routed } from "./routed.js";

describe("a run", () => {
  test("that is cancelled cancels its call, is reported so and rejects with the reason", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const caller = new AbortController();
    const reason = new Error("the user left");
    const seen: unknown[] = [];
    const call = async ({ signal }: Try): Promise<void> => {
      setImmediate(() => caller.abort(reason));
      await sleep(60_000, undefined, { signal }).catch((error: unknown) => {
        seen.push(signal.reason);
        throw error;
      });
    };
    await assert.rejects(router.run({}, call, { signal: caller.signal }), reason);
    assert.deepEqual(seen, [reason]);
    assert.deepEqual(await routed.told(), ["cancelled", [["a", "", 499]]]);
  });

  test("that is cancelled ends where its call does not listen", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const caller = new AbortController();
    const call = async (): Promise<void> => {
      caller.abort();
      await new Promise(() => undefined);
    };
    await assert.rejects(router.run({}, call, { signal: caller.signal }), { name: "AbortError" });
    assert.deepEqual(await routed.told(), ["cancelled", [["a", "", 499]]]);
  });

  test("that is cancelled while it waits tries nothing more", async () => {
    await using routed = await Routed.start();
    const { router, service } = routed;
    service.case = { candidates: [{ endpoint_id: "a", need_ms: 1 }] };
    const caller = new AbortController();
    const call = (): never => {
      setImmediate(() => caller.abort());
      throw CallFailed.http(429, { "retry-after": "50" });
    };
    await assert.rejects(router.run({}, call, { signal: caller.signal }), { name: "AbortError" });
    assert.deepEqual(await routed.told(), ["cancelled", [["a", "transient", 429]]]);
  });

  test("that is cancelled while Decide is asked calls nothing and reports nothing", async () => {
    await using routed = await Routed.start();
    const { router, service } = routed;
    const caller = new AbortController();
    const running = router.run({}, () => assert.fail("called"), { signal: caller.signal });
    caller.abort();
    await assert.rejects(running, { name: "AbortError" });
    await router.close();
    assert.deepEqual(service.reports, []);
  });

  test("that is cancelled between two attempts does not begin the second", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const caller = new AbortController();
    const call = (): never => {
      queueMicrotask(() => caller.abort());
      throw CallFailed.http(503);
    };
    const late = { clock: () => performance.now(), now: () => new Date() };
    await assert.rejects(router.run({}, call, { signal: caller.signal, runtime: late }), { name: "AbortError" });
    const [outcome, attempts] = (await routed.told()) as [string, unknown[]];
    assert.deepEqual([outcome, attempts.length], ["cancelled", 1]);
  });

  test("that somebody else's signal aborts rejects with that", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    await assert.rejects(
      router.run({}, async () => await sleep(60_000, undefined, { signal: AbortSignal.abort() })),
      { name: "AbortError" },
    );
    assert.deepEqual(await routed.told(), ["cancelled", [["a", "", 499]]]);
  });

  test("of many at once warns of no leak", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const warnings: Error[] = [];
    const listen = (warning: Error): number => warnings.push(warning);
    process.on("warning", listen);
    const { signal } = new AbortController();
    const call = async (attempt: Try): Promise<string> => await sleep(20, "words", { signal: attempt.signal });
    await Promise.all(Array.from({ length: 40 }, async () => await router.run({ deadlineMs: 5000 }, call, { signal })));
    await sleep(1);
    process.off("warning", listen);
    assert.deepEqual(warnings, []);
  });
});
