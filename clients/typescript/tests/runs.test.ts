// Whole runs of the vectors, over the wire, without waiting.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import {
  CallFailed,
  type Report,
  RouterClient,
  RouterUnavailable,
  type RouteFields,
  type Run,
  type Seen,
  type Try,
} from "@router-service/client";

import { type DecideCase, ScriptedService, TRACE_ID, World } from "./scripted.js";
import { type Case, camel, snake, vectors } from "./vectors.js";

interface Line {
  readonly takes_ms: number;
  readonly seen?: Seen;
  readonly answer?: string;
  readonly passed_on?: boolean;
  readonly not_accepted?: string;
}

interface RunCase {
  readonly name: string;
  readonly request: Case;
  readonly replayable: boolean;
  readonly draws: readonly number[];
  readonly decide: DecideCase;
  readonly script: readonly Line[];
  readonly expect: {
    readonly steps: readonly Case[];
    readonly outcome: string;
    readonly answer: string | null;
    readonly report: { readonly outcome: string; readonly attempts: readonly Case[] } | null;
  };
}

/** Endpoints that do what the script says, one line a call or a cancelled wait. */
class Backends {
  readonly script: Line[];
  readonly world: World;
  readonly #refusing = new Map<string, string>();

  constructor(run: RunCase, now: string) {
    this.script = [...run.script];
    this.world = new World(run.draws, new Date(now));
  }

  readonly call = (attempt: Try): string => {
    const line = this.script.shift();
    assert.ok(line !== undefined, "a call more than the vector has");
    const step: Record<string, unknown> = { call: attempt.endpointId, timeout_ms: attempt.timeoutMs ?? null };
    this.world.steps.push(step);
    this.world.goneMs += line.takes_ms;
    attempt.passedOn = line.passed_on ?? false;
    if (attempt.passedOn && attempt.timeoutMs !== undefined) step["extended_ms"] = attempt.timeoutMs;
    if (line.seen !== undefined) throw new CallFailed(line.seen);
    assert.ok(line.answer !== undefined);
    this.#refusing.set(line.answer, line.not_accepted ?? "");
    return line.answer;
  };

  readonly accept = (answer: string): string => this.#refusing.get(answer) ?? "";

  readonly sleep = async (ms: number): Promise<void> => {
    await this.world.sleep(ms);
    if (this.script[0]?.seen?.kind !== "caller_cancelled") return;
    this.script.shift();
    throw CallFailed.cancelled();
  };
}

/** A report as the vectors write it: instants are ms since the run began. */
function asWritten({ outcome, attempts }: Report, world: World): Case {
  const written = attempts.map(({ startedAt, ...others }) => {
    return { ...snake(others), started_ms: (startedAt?.getTime() ?? NaN) - world.start.getTime() };
  });
  return { outcome, attempts: written };
}

describe("runs.json", () => {
  const { now, runs } = vectors<{ now: string; runs: RunCase[] }>("runs.json");
  let service: ScriptedService;
  let router: RouterClient;
  before(async () => {
    service = await ScriptedService.start();
    router = new RouterClient(service.target);
  });
  after(async () => {
    await router.close();
    await service[Symbol.asyncDispose]();
  });

  test("there are as many as there should be", () => {
    assert.ok(runs.length >= 70);
  });

  for (const one of runs) {
    test(one.name, async () => {
      const backends = new Backends(one, now);
      const { accept, sleep, world } = backends;
      Object.assign(service, { case: one.decide, world, reports: [] });
      const runtime = { clock: world.clock, now: world.now, random: world.random, sleep };
      const options = { accept, runtime, replayable: one.replayable, operationId: "mine" };
      const running = router.run(camel<RouteFields>(one.request), backends.call, options);
      if (one.expect.outcome === "error") await assert.rejects(running, RouterUnavailable);
      else checkRun(await running, one);
      assert.ok(await router.reports.flush());
      assert.deepEqual(world.steps, one.expect.steps);
      assert.deepEqual(backends.script, []);
      assert.deepEqual(world.draws, []);
      assert.equal(service.reports.length, one.expect.report === null ? 0 : 1);
      const [told] = service.reports;
      if (told === undefined) return;
      assert.deepEqual(asWritten(told, world), one.expect.report);
      assert.deepEqual([told.traceId, told.operationId], [TRACE_ID, "mine"]);
      assert.deepEqual(told, (await running).report);
    });
  }
});

function checkRun(run: Run<string>, { expect }: RunCase): void {
  assert.equal(run.outcome, expect.outcome);
  assert.equal(run.result ?? null, expect.answer);
  assert.deepEqual(run.attempts, run.report?.attempts ?? []);
  assert.equal(run.refusal === undefined, expect.outcome !== "refused");
  assert.equal(run.decision === undefined, expect.outcome === "refused");
}
