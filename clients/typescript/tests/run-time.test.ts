// How long the calls of a run may take, and what becomes of those that take longer.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { CallFailed, type Try } from "@router-service/client";

import { Routed } from "./routed.js";

describe("a run", () => {
  test("cancels an attempt that takes too long and goes on", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const call = async (attempt: Try): Promise<string> => {
      if (attempt.number === 1) await sleep(60_000, undefined, { signal: attempt.signal });
      return attempt.endpointId;
    };
    const run = await router.run({ deadlineMs: 3000 }, call, { replayable: true });
    assert.equal(run.answer(), "b");
    const [first] = run.attempts;
    assert.ok((first?.timeoutMs ?? 0) <= 1665, "45/77 of 2850");
    assert.ok((first?.latencyMs ?? 0) >= (first?.timeoutMs ?? 0) - 100);
    assert.deepEqual(await routed.told(), [
      "accepted",
      [
        ["a", "ambiguous", undefined],
        ["b", "", undefined],
      ],
    ]);
  });

  test("ends an attempt that takes too long and does not listen", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const run = await router.run({ deadlineMs: 500, maxAttempts: 1 }, async () => await new Promise(() => undefined));
    assert.equal(run.outcome, "ambiguous");
    assert.deepEqual(await routed.told(), ["ambiguous", [["a", "ambiguous", undefined]]]);
  });

  test("believes what a call says of its time-out, where it says more than that it was cancelled", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const call = async ({ signal }: Try): Promise<never> => {
      await sleep(60_000, undefined, { signal }).catch(() => undefined);
      throw CallFailed.notConnected("it was still connecting");
    };
    const run = await router.run({ deadlineMs: 500, maxAttempts: 1 }, call);
    assert.equal(run.outcome, "failed");
    assert.equal(run.failure?.kind, "connect");
  });

  test("is broken off by a time-out after a part was passed on", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const call = async (attempt: Try): Promise<void> => {
      attempt.passedOn = true;
      await sleep(60_000, undefined, { signal: attempt.signal });
    };
    const run = await router.run({ deadlineMs: 500 }, call, { replayable: true });
    assert.equal(run.failure?.kind, "broken_off");
    assert.deepEqual(await routed.told(), ["ambiguous", [["a", "ambiguous", undefined]]]);
  });

  test("gives a call all the time that is left once a part was passed on", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const times: (number | undefined)[] = [];
    const call = async (attempt: Try): Promise<string> => {
      times.push(attempt.timeoutMs);
      attempt.passedOn = true;
      attempt.passedOn = true;
      times.push(attempt.timeoutMs);
      assert.ok((attempt.leftMs ?? 0) > (times[0] ?? Infinity));
      await sleep((times[0] ?? 0) + 100, undefined, { signal: attempt.signal }); // longer than it began with
      assert.ok((attempt.leftMs ?? Infinity) < (attempt.timeoutMs ?? 0) - 100);
      return attempt.decision.traceId;
    };
    const run = await router.run({ deadlineMs: 2000 }, call);
    assert.equal(run.answer(), run.decision?.traceId);
    const [first = 0, all = 0] = times;
    assert.ok(all > first * 1.6 && all < first * 1.8, "a share of 45/77, and then all that can be spent");
    assert.equal(run.attempts[0]?.timeoutMs, first, "reported is what it began with");
  });

  test("has no time-out without a deadline", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const run = await router.run({}, (attempt) => {
      attempt.passedOn = true;
      return [attempt.timeoutMs, attempt.leftMs];
    });
    assert.deepEqual(run.answer(), [undefined, undefined]);
  });

  test("is not cut off by its time once the answer is there", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    let signal: AbortSignal | undefined;
    const call = (attempt: Try): string => {
      signal = attempt.signal;
      return "words";
    };
    const accept = async (): Promise<void> => {
      await sleep(550);
    };
    const run = await router.run({ deadlineMs: 500, maxAttempts: 1 }, call, { accept });
    assert.equal(run.answer(), "words");
    assert.equal(signal?.aborted, false);
  });
});
