// How a run ends otherwise: by a fault of the caller's own, without an answer, with nothing to report.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { CallFailed, NotAnswered, RouterClient, RouterUnavailable, type Try } from "@router-service/client";

import { Routed } from "./routed.js";

describe("a run", () => {
  test("passes over what cannot be called", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const canCall = ({ endpointId }: { endpointId: string }): boolean => endpointId === "b";
    const run = await router.run({ deadlineMs: 20_000 }, ({ endpointId }) => endpointId, { canCall });
    assert.equal(run.answer(), "b");
    assert.ok((run.attempts[0]?.timeoutMs ?? 0) > 12_000, "no time is kept for it");
    const nobody = await router.run({}, () => assert.fail("called"), { canCall: () => false });
    assert.deepEqual([nobody.outcome, nobody.attempts], ["failed", []]);
  });

  test("that meets a fault of one's own is reported and rejects with it", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const fault = new RangeError("mine");
    await assert.rejects(
      router.run({}, () => {
        throw fault;
      }),
      fault,
    );
    assert.deepEqual(await routed.told(), ["failed", [["a", "", 499]]]);
  });

  test("that meets a fault in acceptance rejects with it too", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const accept = (): never => {
      throw new RangeError("mine");
    };
    await assert.rejects(
      router.run({}, () => "words", { accept }),
      { message: "mine" },
    );
    assert.deepEqual(await routed.told(), ["failed", [["a", "", 499]]]);
  });

  test("without an answer says what was tried", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const call = ({ number }: Try): never => {
      throw CallFailed.http(number === 1 ? 503 : 400, {}, { error: { code: "content_filter" } });
    };
    const run = await router.run({}, call);
    assert.throws(
      () => run.answer(),
      (error) =>
        error instanceof NotAnswered &&
        error.run === run &&
        error.message === "failed: tried: a (permanent 503 content_filter)",
    );
    assert.equal(run.failure?.status, 503);
  });

  test("that was refused says why, and calls nothing", async () => {
    await using routed = await Routed.start();
    const { router, service } = routed;
    service.case = { refusal: { code: "model_not_found", http_status: 404, retry_after_ms: 1500 } };
    const run = await router.run({ model: "x" }, () => assert.fail("called"));
    assert.throws(() => run.answer(), /^NotAnswered: refused: /);
    assert.equal(run.refusal?.httpStatus, 404);
    assert.equal(run.report, undefined);
  });

  test("reports what the endpoint tells, and acceptance only where it was asked", async () => {
    await using routed = await Routed.start();
    const { router, service } = routed;
    const run = await router.run({}, (attempt) => {
      attempt.firstToken();
      attempt.tell({ inputTokens: 5, outputTokens: 0, finishReason: "stop" });
      attempt.tell({ cost: 0.5, statusCode: 200, inputTokens: null });
    });
    assert.deepEqual([run.outcome, run.result], ["accepted", undefined]);
    await router.close();
    const attempt = service.reports[0]?.attempts[0];
    assert.deepEqual([attempt?.inputTokens, attempt?.outputTokens, attempt?.cost], [5, 0, 0.5]);
    assert.deepEqual([attempt?.finishReason, attempt?.statusCode, attempt?.validationResult], ["stop", 200, ""]);
    assert.notEqual(attempt?.timeToFirstTokenMs, undefined);
  });

  test("refuses at once what a report could not hold", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    await assert.rejects(
      router.run({}, (attempt) => attempt.tell({ inputTokens: 1.5 })),
      { name: "TypeError", message: /^Attempt: inputTokens: / },
    );
  });

  test("takes an acceptance that is a promise, or an assertion", async () => {
    await using routed = await Routed.start();
    const { router } = routed;
    const refusing = await router.run({}, () => "words", { accept: async () => await Promise.resolve("too short") });
    assert.deepEqual([refusing.outcome, refusing.attempts[1]?.validationResult], ["rejected", "too short"]);
    const asserting = await router.run({}, () => "words", { accept: (answer) => assert.equal(answer, "words") });
    assert.equal(asserting.outcome, "accepted");
  });

  test("takes no acceptance without words, and reports that as a fault of its own", async () => {
    await using routed = await Routed.start();
    const { router, service } = routed;
    const accept = (): string => true as unknown as string;
    await assert.rejects(
      router.run({}, () => "words", { accept }),
      /accept says in words .* it gave a boolean/,
    );
    await router.close();
    const [report] = service.reports;
    assert.deepEqual([report?.outcome, report?.attempts[0]?.statusCode], ["failed", 499]);
  });

  test("of candidates of one's own is not reported", async () => {
    await using routed = await Routed.start();
    const { router, service } = routed;
    const inline = { candidates: [{ endpointId: "a" }], policy: { policyId: "mine" } };
    const run = await router.run({}, () => "words", { inline, operationId: "mine" });
    assert.equal(run.report, undefined);
    await router.close();
    assert.deepEqual(service.reports, []);
    assert.equal(service.asked[0]?.operationId, "mine");
    assert.equal(service.asked[0].inline?.candidates[0]?.endpointId, "a");
  });

  test("asks Decide once, and nobody else, where the service is not well", async () => {
    await using routed = await Routed.start();
    const { router, service } = routed;
    service.case = { error: "UNAVAILABLE" };
    await assert.rejects(
      router.run({}, () => assert.fail("called")),
      RouterUnavailable,
    );
    assert.equal(service.asked.length, 1);
  });

  test("asks once though a policy of gRPC's own says to try again", async () => {
    await using routed = await Routed.start();
    const { service } = routed;
    service.case = { error: "UNAVAILABLE" };
    const retryPolicy = {
      maxAttempts: 4,
      initialBackoff: "0.01s",
      maxBackoff: "0.01s",
      backoffMultiplier: 1,
      retryableStatusCodes: ["UNAVAILABLE"],
    };
    const config = JSON.stringify({ methodConfig: [{ name: [{}], retryPolicy }] });
    const retrying = { "grpc.service_config": config };
    // As gRPC does it where nobody turns it off.
    await using careless = new RouterClient(service.target, {
      channelOptions: { ...retrying, "grpc.enable_retries": 1 },
    });
    await assert.rejects(careless.decide({}), RouterUnavailable);
    assert.equal(service.asked.splice(0).length, 4);
    await using router = new RouterClient(service.target, { channelOptions: retrying });
    await assert.rejects(router.decide({}), RouterUnavailable);
    assert.equal(service.asked.length, 1);
  });
});
