// Reports in the background: repeated while the service is away, told before closing ends, never lost in silence.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";

import {
  LimitExceeded,
  type Report,
  ReportsLost,
  RouterClient,
  type RouterClientOptions,
  RouterUnavailable,
  TraceNotFound,
} from "@router-service/client";

import { reportMessage } from "../dist/messages.js";
import { ReportQueue } from "../dist/report-queue.js";
import { Outbox, type OutboxOptions } from "../dist/reports.js";
import { ScriptedService } from "./scripted.js";

const NOWHERE = "unix:/nonexistent/router.sock";
const AWAY = new RouterUnavailable("away", { code: "UNAVAILABLE" });
const BUSY = new LimitExceeded("busy", { code: "RESOURCE_EXHAUSTED" });
const GONE = new TraceNotFound("gone", { code: "NOT_FOUND" });

function report(number: number): Report {
  return reportMessage({ traceId: number.toString(16).padStart(32, "0"), outcome: "accepted" });
}

/** What is told of reports that go wrong, and the options of what tells it. */
function listening(): { warnings: string[]; options: OutboxOptions & RouterClientOptions } {
  const warnings: string[] = [];
  return { warnings, options: { random: () => 0, warn: (message) => warnings.push(message) } };
}

describe("reports", () => {
  test("closing delivers what waits", async () => {
    await using service = await ScriptedService.start();
    const reports = Array.from({ length: 20 }, (_, number) => report(number));
    {
      await using router = new RouterClient(service.target);
      for (const one of reports) router.reports.put(one);
      assert.deepEqual(service.reports, []);
    }
    assert.deepEqual(service.reports, reports);
  });

  test("a service that is away is asked again", async () => {
    await using service = await ScriptedService.start();
    service.answers.push("UNAVAILABLE", "UNAVAILABLE");
    await using router = new RouterClient(service.target);
    router.reports.put(report(1));
    router.reports.put(report(2));
    assert.ok(await router.reports.flush());
    assert.deepEqual(service.reports, [report(1), report(2)]);
    assert.equal(router.reports.outbox.delivered, 2);
  });

  test("a service that is busy is asked again", async () => {
    await using service = await ScriptedService.start();
    service.answers.push("RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED");
    await using router = new RouterClient(service.target);
    router.reports.put(report(1));
    router.reports.put(report(2));
    assert.ok(await router.reports.flush());
    assert.deepEqual(service.reports, [report(1), report(2)]);
    assert.deepEqual([router.reports.outbox.delivered, router.reports.outbox.refused], [2, 0]);
  });

  test("a report that is itself too large holds up the others for so long only", () => {
    const { warnings, options } = listening();
    const outbox = new Outbox({ ...options, random: () => 1 });
    outbox.put(report(1), false);
    outbox.put(report(2), false);
    const waits = Array.from({ length: 10 }, () => {
      assert.deepEqual(outbox.waiting[0], report(1));
      outbox.answered(BUSY);
      return outbox.waitMs;
    });
    assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 0]);
    assert.deepEqual([outbox.waiting, outbox.refused], [[report(2)], 1]);
    assert.match(warnings.join(), /^report of trace 0+1 refused: /);
    // The next one meets a limit too, and was not taken by it: that its trace is gone then is no delivery.
    outbox.answered(BUSY);
    outbox.answered(GONE);
    assert.deepEqual([outbox.delivered, outbox.refused], [0, 2]);
  });

  test("what is no report is refused at once, and holds up nothing", async () => {
    await using service = await ScriptedService.start();
    await using router = new RouterClient(service.target);
    assert.throws(() => router.reports.put(undefined as unknown as Report), /a Report is told, not undefined/);
    router.reports.put(report(1));
    assert.ok(await router.reports.flush());
    assert.deepEqual(service.reports, [report(1)]);
  });

  test("what the service refuses is counted, and the next is told", async () => {
    await using service = await ScriptedService.start();
    service.answers.push("INVALID_ARGUMENT");
    const { warnings, options } = listening();
    await using router = new RouterClient(service.target, options);
    router.reports.put(report(1));
    router.reports.put(report(2));
    assert.ok(await router.reports.flush());
    const { refused, delivered } = router.reports.outbox;
    assert.deepEqual([refused, delivered], [1, 1]);
    assert.match(warnings.join(), /^report of trace 0+1 refused: .*as the test says$/);
  });

  test("a trace that is gone after a lost answer was told", () => {
    // Under a retention of 0 a report ends its trace, and comes again where its answer was lost.
    const outbox = new Outbox(listening().options);
    outbox.put(report(1), false);
    outbox.answered(AWAY);
    outbox.answered(GONE);
    assert.deepEqual([outbox.delivered, outbox.refused], [1, 0]);
    outbox.put(report(2), false);
    outbox.answered(GONE);
    assert.deepEqual([outbox.delivered, outbox.refused], [1, 1]);
  });

  test("what cannot be delivered is told on closing, once", async () => {
    let signal: AbortSignal | undefined;
    const queue = new ReportQueue(async (_report, given) => {
      signal = given;
      await new Promise(() => undefined); // closing would never end if it waited for this
    }, listening().options);
    queue.put(report(1));
    queue.put(report(2));
    const loss = await queue.close(50);
    assert.deepEqual([loss?.reports, loss?.dropped], [[report(1), report(2)], 0]);
    assert.equal(signal?.aborted, true);
    assert.equal(await queue.close(), undefined);
  });

  test("a client that cannot reach the service closes all the same", async () => {
    const router = new RouterClient(NOWHERE, listening().options);
    router.reports.put(report(1));
    assert.deepEqual((await router.reports.close(50))?.reports, [report(1)]);
    await router.close();
  });

  test("the end of a block rejects with what was lost", async () => {
    const { warnings, options } = listening();
    const use = async (): Promise<void> => {
      await using router = new RouterClient(NOWHERE, options);
      router.reports.outbox.limit = 0;
      router.reports.put(report(1));
    };
    await assert.rejects(use, (error) => error instanceof ReportsLost && error.dropped === 1);
    assert.equal(warnings.at(-1), "1 reports were not delivered, 1 of them for lack of room");
  });

  test("a queue that is full drops the newest and counts it", () => {
    const { warnings, options } = listening();
    const outbox = new Outbox({ ...options, limit: 1 });
    assert.ok(outbox.put(report(1), false));
    assert.ok(!outbox.put(report(2), false));
    assert.deepEqual([outbox.dropped, outbox.waiting], [1, [report(1)]]);
    assert.match(warnings.join(), /^report of trace 0+2 dropped: 1 reports wait already$/);
  });

  test("after closing nothing is taken in silence", async () => {
    const { warnings, options } = listening();
    const queue = new ReportQueue(async () => await Promise.resolve(), options);
    assert.equal(await queue.close(), undefined);
    queue.put(report(1));
    assert.equal(queue.outbox.dropped, 1);
    assert.match(warnings.join(), /the client is closed/);
  });

  test("a fault in sending ends nothing", async () => {
    const { warnings, options } = listening();
    const sent: Report[] = [];
    const queue = new ReportQueue(async (one) => {
      sent.push(one);
      if (sent.length === 1) throw new RangeError("odd");
      await Promise.resolve();
    }, options);
    queue.put(report(1));
    queue.put(report(2));
    assert.equal(await queue.close(), undefined);
    assert.deepEqual([queue.outbox.refused, queue.outbox.delivered], [1, 1]);
    assert.match(warnings.join(), /odd/);
  });

  test("sending starts anew after there was nothing to do", async () => {
    const sent: Report[] = [];
    const queue = new ReportQueue(async (one) => await Promise.resolve(sent.push(one)), listening().options);
    for (const number of [1, 2, 3]) {
      queue.put(report(number));
      assert.ok(await queue.flush());
    }
    assert.equal(sent.length, 3);
    assert.equal(await queue.close(), undefined);
  });

  test("waits grow and end with an answer", () => {
    const outbox = new Outbox({ ...listening().options, random: () => 1 });
    outbox.put(report(1), false);
    const waits = Array.from({ length: 8 }, () => {
      outbox.answered(AWAY);
      return outbox.waitMs;
    });
    assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
    outbox.answered(undefined);
    assert.deepEqual([outbox.waitMs, outbox.delivered, outbox.lost()], [0, 1, undefined]);
  });

  test("a service without a store wants none", () => {
    const outbox = new Outbox(listening().options);
    outbox.put(report(1), false);
    outbox.answered(new RouterUnavailable("none", { code: "UNAVAILABLE", reason: "ERROR_REASON_NO_STORE" }));
    assert.deepEqual([outbox.unwanted, outbox.lost()], [1, undefined]);
  });
});

describe("a process that closes no client", () => {
  const run = promisify(execFile);
  const script = (target: string): string => `
    import { RouterClient } from "@router-service/client";
    const router = new RouterClient(${JSON.stringify(target)});
    router.reports.put({ traceId: "${"0".repeat(31)}1", operationId: "", attempts: [], outcome: "accepted", caller: "" });
  `;
  const node = async (target: string): Promise<{ stderr: string }> =>
    await run(process.execPath, ["--input-type=module", "--eval", script(target)], {
      cwd: new URL("..", import.meta.url),
      timeout: 60_000,
    });

  test("delivers its reports before it ends", async () => {
    await using service = await ScriptedService.start();
    assert.equal((await node(service.target)).stderr, "");
    assert.equal(service.reports.length, 1);
  });

  test("ends, and says what it could not deliver", async () => {
    assert.match((await node(NOWHERE)).stderr, /RouterServiceWarning: 1 reports were not delivered/);
  });
});
