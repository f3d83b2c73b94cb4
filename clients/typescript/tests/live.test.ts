// Runs with a real service and a real backend that does wrong in every way; what the service knows of it afterwards.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import {
  CallFailed,
  RouterClient,
  type RouteFields,
  type Try,
  type Run,
  candidates,
  seenOfResponse,
} from "@router-service/client";

import { vectors } from "./vectors.js";

/** Where they are, as `python -m clients.conformance.live` tells it. */
interface Live {
  readonly router: string;
  readonly backend: string;
  readonly refused: string;
  readonly kind: string;
}

interface Expected {
  readonly deadline_ms: number;
  readonly replayable: boolean;
  readonly outcome: string;
  readonly attempts: readonly (readonly [string, number])[];
  readonly retry_after_ms?: number;
}

const { runs, answer: ANSWER } = vectors<{ runs: Record<string, Expected>; answer: object }>("live.json");
const TOLD = process.env["ROUTER_SERVICE_LIVE"];
const skip = TOLD === undefined ? "ROUTER_SERVICE_LIVE is not set: make test-clients ARGS=typescript" : false;
const live = JSON.parse(TOLD ?? "{}") as Live;

/** Makes one attempt with fetch. */
async function call(attempt: Try): Promise<unknown> {
  const [path = ""] = attempt.endpointId.split("@");
  const host = path === "refused" ? live.refused : live.backend;
  const response = await fetch(`${host}/${path}`, { method: "POST", body: "{}", signal: attempt.signal });
  if (!response.ok) throw new CallFailed(await seenOfResponse(response));
  attempt.firstToken();
  attempt.passedOn = path === "truncated"; // as a proxy does that streams
  return await response.json();
}

function accept(answer: unknown): string {
  return typeof answer === "object" && answer !== null && "total" in answer ? "" : "no total";
}

/** What the service knows afterwards. */
async function checkTrace(run: Run<unknown>, expected: Expected, model: string, fault: string): Promise<void> {
  await using router = new RouterClient(live.router);
  assert.ok(run.report !== undefined);
  const { reports } = await router.getTrace(run.report.traceId);
  assert.equal(reports.length, 1);
  // The service adds who reported it.
  assert.deepEqual({ ...reports[0], caller: "" }, { ...run.report, traceId: reports[0]?.traceId });
  if (expected.retry_after_ms === undefined) return;
  assert.equal(run.attempts[0]?.retryAfterMs, expected.retry_after_ms);
  const left = candidates(await router.decide({ model })).map((one) => one.endpointId);
  assert.deepEqual(left, [`good@${model}`], `${fault}@${model} is left out for so long`);
}

describe("with a real service and a real backend", { skip }, () => {
  for (const [fault, expected] of Object.entries(runs)) {
    test(fault, async () => {
      const model = `${fault}-${live.kind}`;
      const request: RouteFields = { model, deadlineMs: expected.deadline_ms };
      let made = 0;
      const counted = async (attempt: Try): Promise<unknown> => {
        made += 1;
        return await call(attempt);
      };
      const router = new RouterClient(live.router);
      const run = await router.run(request, counted, { accept, replayable: expected.replayable });
      await router.close();
      assert.equal(router.reports.outbox.delivered, 1);
      assert.equal(run.outcome, expected.outcome);
      assert.deepEqual(run.result, expected.outcome === "accepted" ? ANSWER : undefined);
      const attempts = run.attempts.map((one) => [one.failureClass, one.statusCode ?? 0]);
      assert.deepEqual(attempts, expected.attempts);
      assert.equal(made, expected.attempts.length);
      const allowed = new Set([`${fault}@${model}`, `good@${model}`]);
      assert.ok(run.attempts.every((one) => allowed.has(one.endpointId)));
      await checkTrace(run, expected, model, fault);
    });
  }

  test("the example answers", async () => {
    const source = readFileSync(new URL("../examples/ask.ts", import.meta.url), "utf8");
    assert.ok(source.trimEnd().split("\n").length <= 40);
    const example = fileURLToPath(new URL("../dist-examples/ask.js", import.meta.url));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [example, `${live.backend}/v1`, "Is it?"], {
      env: { ...process.env, ROUTER: live.router },
      timeout: 60_000,
    });
    assert.equal(stdout, "Yes.\n");
    assert.match(stderr, /^answered by .* at attempt 1\n$/);
  });
});
