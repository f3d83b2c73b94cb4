// What a caller gets where there is no answer: an error, never an endpoint.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { RouterClient, RouterError, RouterTimeout, RouterUnavailable } from "@router-service/client";

import { listening } from "./faults.js";
import { ScriptedService } from "./scripted.js";

const NOWHERE = "unix:/nonexistent/router.sock";

describe("no answer", () => {
  test("nobody listens: an error that says so", async () => {
    await using router = new RouterClient(NOWHERE);
    for (const ask of [
      async () => await router.decide({ model: "auto" }),
      async () => await router.run({ model: "auto" }, () => assert.fail("called")),
      async () => await router.listEndpoints().next(),
      async () => await router.watchCatalog().next(),
    ]) {
      await assert.rejects(ask, (error) => {
        assert.ok(error instanceof RouterUnavailable);
        assert.deepEqual([error.code, error.reason, error.violations], ["UNAVAILABLE", "", []]);
        assert.match(error.message, /^no answer from the router-service at unix:\/nonexistent\/router\.sock: /);
        assert.ok(error.cause instanceof Error);
        return true;
      });
    }
  });

  test("a service that comes back is found again", async () => {
    const { target } = await startedAndStopped();
    await using router = new RouterClient(target);
    await assert.rejects(router.decide(), RouterUnavailable);
    await using service = await ScriptedService.start(undefined, target);
    for (let i = 0; service.asked.length === 0 && i < 500; i += 1) {
      await router.decide().catch(() => undefined);
      await sleep(20);
    }
    assert.ok(service.asked.length > 0);
  });

  test("deadlines of the call, of the client and of the request hold", async (t) => {
    const target = await silent(t);
    await using patient = new RouterClient(target);
    await using hasty = new RouterClient(target, { timeoutMs: 100 });
    await assert.rejects(patient.decide({}, { timeoutMs: 100 }), RouterTimeout);
    await assert.rejects(hasty.decide(), RouterTimeout);
    await assert.rejects(
      patient.run({ deadlineMs: 100 }, () => assert.fail("called")),
      RouterTimeout,
    );
    await assert.rejects(patient.decideStream([{}], { timeoutMs: 100 }).next(), RouterTimeout);
    await assert.rejects(patient.reportStream([], { timeoutMs: 100 }), RouterTimeout);
    await assert.rejects(patient.decide({}, { timeoutMs: 0 }), { message: /timeoutMs: 0 is no time/ });
  });

  test("a signal cancels a call, and is the reason", async (t) => {
    await using router = new RouterClient(await silent(t));
    for (const ask of [
      async (signal: AbortSignal) => await router.decide({}, { signal }),
      async (signal: AbortSignal) => await router.decideStream([], { signal }).next(),
      async (signal: AbortSignal) => await router.watchCatalog({ signal }).next(),
      async (signal: AbortSignal) => await router.reportStream([], { signal }),
    ]) {
      for (const reason of [new Error("mine"), "gone", null]) {
        const caller = new AbortController();
        const asking = ask(caller.signal);
        setTimeout(() => caller.abort(reason), 20);
        assert.equal(await asking.catch((error: unknown) => error), reason);
        assert.equal(await ask(AbortSignal.abort(reason)).catch((error: unknown) => error), reason);
      }
    }
  });

  test("closing cancels what still runs, and nothing can be asked after it", async (t) => {
    const router = new RouterClient(await silent(t));
    const asking = [router.decide(), router.watchCatalog().next()];
    setTimeout(() => void router.close(), 20);
    for (const one of asking) {
      await assert.rejects(one, (error) => error instanceof RouterError && error.message === "the client is closed");
    }
    await router.close();
    await assert.rejects(router.decide(), { message: "the client is closed" });
  });
});

/** An address that nobody listens at, and that can be listened at. */
async function startedAndStopped(): Promise<{ target: string }> {
  const service = await ScriptedService.start();
  const { target } = service;
  await service[Symbol.asyncDispose]();
  return { target };
}

/** An address that takes connections and never says a word. */
async function silent(t: TestContext): Promise<string> {
  const server = await listening(createServer((socket) => socket.resume()));
  t.after(async () => {
    await server[Symbol.asyncDispose]();
  });
  return `127.0.0.1:${server.port}`;
}
