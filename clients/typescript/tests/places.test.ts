// Many calls at once, over one connection.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { RouterClient, RouterTimeout } from "@router-service/client";

import { orAborted } from "../dist/aborting.js";
import { Places } from "../dist/places.js";
import { ScriptedService } from "./scripted.js";

describe("places", () => {
  test("a burst over a new connection is answered in full, however few streams the service takes", async () => {
    await using service = await ScriptedService.start(undefined, undefined, { "grpc.max_concurrent_streams": 70 });
    service.case = { candidates: [] };
    await using router = new RouterClient(service.target, { timeoutMs: 60_000 });
    const ids = Array.from({ length: 500 }, (_, i) => String(i));
    await Promise.all(ids.map(async (requestId) => await router.decide({}, { requestId })));
    assert.deepEqual(service.asked.map((one) => one.requestId).toSorted(), ids.toSorted());
  });

  test("to wait for one is part of the time", async () => {
    await using service = await ScriptedService.start();
    service.isSilent = true;
    await using router = new RouterClient(service.target, { timeoutMs: 1000 });
    const ended = await Promise.allSettled(Array.from({ length: 200 }, async () => await router.decide()));
    assert.ok(ended.every((one) => one.status === "rejected" && one.reason instanceof RouterTimeout));
    assert.ok(service.asked.length < 200, "most give up where they wait");
  });

  test("are given back by whoever gives up", async () => {
    const places = new Places(1);
    const patient = async (turn: Promise<void>): Promise<void> => await turn;
    await places.take(patient);
    await assert.rejects(
      places.take(async () => await Promise.reject(new RangeError("mine"))),
      RangeError,
    );
    const caller = new AbortController();
    const cancelled = places.take(async (turn) => await orAborted(turn, caller.signal));
    const next = places.take(patient);
    caller.abort();
    await assert.rejects(cancelled, { name: "AbortError" });
    places.leave();
    await next;
    // Its turn comes as it gives up: it is the next one's.
    const late = places.take(async (turn) => {
      await turn;
      throw new RangeError("mine");
    });
    const last = places.take(patient);
    places.leave();
    await assert.rejects(late, RangeError);
    await last;
    places.leave();
    await places.take(patient);
  });
});
