// Answers of a real service with the example catalogue.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import {
  type Attempt,
  type Candidate,
  EndpointNotListed,
  InvalidRequest,
  PermissionDenied,
  PolicyNotFound,
  RouterClient,
  RouterUnavailable,
  type ReportFields,
  TraceNotFound,
  Unauthenticated,
  WorkloadNotFound,
  candidates,
  retryAfterOf,
} from "@router-service/client";

import { NO_PYTHON } from "./python.js";
import { type Serving, folder, serving } from "./serving.js";
import { certificate } from "./tls.js";

const NOBODYS = "0".repeat(32);
const COMMON = { kind: "hosted", status: "up", modelType: "text" };
const INLINE = {
  candidates: [
    { ...COMMON, endpointId: "here", model: "one", country: "DE", sovereignty: "eu-owned" },
    { ...COMMON, endpointId: "there", model: "two", country: "US", sovereignty: "global" },
  ],
  policy: { policyId: "mine", residency: ["eu-owned"] },
};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of items) found.push(one);
  return found;
}

describe("a real service", { skip: NO_PYTHON }, () => {
  let service: Serving;
  let router: RouterClient;
  before(async () => {
    service = await serving("--listen", "127.0.0.1:0", "--store", `sqlite:${join(folder(), "router.db")}`);
    router = new RouterClient(service.target);
  });
  after(async () => {
    await router.close();
    await service[Symbol.asyncDispose]();
  });

  /** A decision, its first candidate, and an attempt on that. */
  async function decided(operationId = ""): Promise<{ traceId: string; first: Candidate; attempt: ReportFields }> {
    const request = { task: "coding", inputTokens: 100 };
    const { decision } = await router.decide(request, { dataClass: "health", operationId });
    const [first] = decision?.candidates ?? [];
    assert.ok(decision !== undefined && first !== undefined);
    const attempts = [{ attemptId: "1", endpointId: first.endpointId, latencyMs: 0 }];
    return { traceId: decision.traceId, first, attempt: { traceId: decision.traceId, outcome: "accepted", attempts } };
  }

  test("decides", async () => {
    const asked = { task: "coding", inputTokens: 1200, outputTokens: 400, expectedOutputTokens: null };
    const answer = await router.decide(asked, { requestId: "mine" });
    assert.equal(answer.requestId, "mine");
    assert.equal(answer.refusal, undefined);
    assert.ok(candidates(answer).length >= 1 && candidates(answer).length <= 3);
    assert.equal(answer.decision?.traceId.length, 32);
    assert.notEqual(answer.decision.sentence, "");
  });

  test("refuses, which is an answer", async () => {
    const { decision, refusal } = await router.decide({ model: "no-such-model-at-all" });
    assert.equal(decision, undefined);
    assert.deepEqual([refusal?.code, refusal?.httpStatus], ["model_not_found", 404]);
    assert.ok(refusal !== undefined && retryAfterOf(refusal) === undefined);
  });

  test("decides many at once, in their order, and one bad item ends nothing", async () => {
    const requests = Array.from({ length: 300 }, (_, i) => {
      return { requestId: String(i), request: i === 7 ? { maxPrice: -1 } : { model: "auto", maxAttempts: 1 } };
    });
    const answers = await all(router.decideStream(requests));
    assert.deepEqual(
      answers.map((one) => one.requestId),
      requests.map((one) => one.requestId),
    );
    const errors = answers.filter((one) => one.error !== undefined);
    assert.deepEqual(
      errors.map((one) => [one.requestId, one.error?.reason, one.error?.violations[0]?.field]),
      [["7", "ERROR_REASON_INVALID_REQUEST", "request.max_price"]],
    );
    assert.ok(answers.every((one) => one.error !== undefined || one.decision?.candidates.length === 1));
  });

  test("is told what came of decisions, once", async () => {
    const { traceId, attempt } = await decided();
    assert.deepEqual(await router.report(attempt), { accepted: 1, duplicates: 0 });
    assert.deepEqual(await router.report(attempt), { accepted: 0, duplicates: 1 });
    const [report] = (await router.getTrace(traceId)).reports;
    assert.equal(report?.outcome, "accepted");
    assert.deepEqual(
      report.attempts.map(({ attemptId }) => attemptId),
      ["1"],
    );
    assert.equal(report.attempts[0]?.latencyMs, 0);
  });

  test("is told many reports, and names those that it does not take", async () => {
    const { traceId, attempt } = await decided();
    const reports: ReportFields[] = [attempt, { traceId: NOBODYS, outcome: "failed" }, { ...attempt, traceId }];
    const taken = await router.reportStream(reports);
    assert.deepEqual([taken.accepted, taken.duplicates], [1, 1]);
    assert.deepEqual(
      taken.rejected.map((one) => [one.position, one.traceId]),
      [[1, NOBODYS]],
    );
    async function* slowly(): AsyncGenerator<ReportFields> {
      for (const one of reports) yield await Promise.resolve(one);
    }
    assert.equal((await router.reportStream(slowly())).accepted, 0);
  });

  test("keeps traces, lists them newest first page by page, and explains them again", async () => {
    const since = new Date();
    const operationId = "order-17";
    const made = [];
    for (let i = 0; i < 5; i += 1) made.push((await decided(operationId)).traceId);
    const refused = (await router.decide({ model: "no-such-model-at-all" })).refusal?.traceId;
    const listed = await all(router.listTraces({ since, pageSize: 2 }));
    assert.deepEqual(new Set(listed.map((one) => one.traceId)), new Set([...made, refused]));
    const outcomes = await all(router.listTraces({ since, outcome: "model_not_found" }));
    assert.deepEqual(
      outcomes.map((one) => one.traceId),
      [refused],
    );
    assert.deepEqual(await all(router.listTraces({ until: new Date(since.getTime() - 1e10) })), []);
    const [traceId = ""] = made;
    const trace = await router.getTrace(traceId);
    assert.ok(trace.decidedAt instanceof Date && trace.decidedAt.getTime() >= since.getTime() - 1000);
    assert.deepEqual([trace.operationId, trace.dataClass, trace.request?.inputTokens], [operationId, "health", 100]);
    const { explanation } = await router.explain(undefined, { traceId });
    assert.deepEqual(explanation?.decision, trace.decision);
    await assert.rejects(
      router.explain({}, { traceId }),
      (error) => error instanceof InvalidRequest && error.violations[0]?.field === "request",
    );
  });

  test("explains what it would decide", async () => {
    const { explanation } = await router.explain({ task: "coding" });
    assert.ok(explanation !== undefined);
    const ranked = explanation.endpoints.filter((one) => one.rank !== undefined);
    assert.equal(ranked.length + (explanation.decision?.excluded ?? NaN), explanation.decision?.considered);
    const [first] = candidates(await router.decide({ task: "coding" }));
    assert.equal(candidates(explanation)[0]?.endpointId, first?.endpointId);
  });

  test("lets a workload be inherited", async () => {
    const tokens = { inputTokens: 6000 };
    const { explanation } = await router.explain(tokens, { workload: "invoices" });
    assert.equal(explanation?.workload, "invoices@2026-11-30");
    const origins = Object.fromEntries(explanation.origins.map(({ field, source }) => [field, source]));
    assert.equal(origins["input_tokens"], "request");
    assert.ok(candidates(await router.decide(tokens, { workload: "invoices" })).length > 0);
  });

  test("shows its catalogue", async () => {
    const endpoints = await all(router.listEndpoints({ pageSize: 20 }));
    const ids = endpoints.map((one) => one.endpoint?.endpointId ?? "");
    assert.ok(ids.length > 40);
    assert.deepEqual(ids, ids.toSorted());
    assert.ok(endpoints.some((one) => one.circuit === "closed"));
    assert.ok((await all(router.listPolicies({ pageSize: 1 }))).some((one) => one.policyId === "eu-hosted"));
    assert.ok((await all(router.listWorkloads())).some((one) => one.name === "invoices"));
    for await (const { endpoints: count, currency } of router.watchCatalog()) {
      assert.deepEqual([count, currency], [ids.length, "EUR"]);
      break; // which cancels the stream
    }
  });

  test("names every bad field", async () => {
    await assert.rejects(router.decide({ maxPrice: -1, residency: "the-moon" }), (error) => {
      assert.ok(error instanceof InvalidRequest);
      assert.deepEqual(error.violations.map((one) => one.field).toSorted(), ["request.max_price", "request.residency"]);
      assert.ok(error.violations.every((one) => one.description !== ""));
      assert.deepEqual([error.code, error.reason], ["INVALID_ARGUMENT", "ERROR_REASON_INVALID_REQUEST"]);
      assert.match(error.message, /request\.residency/);
      assert.doesNotMatch(error.message, /no answer from/, "the service spoke itself");
      return true;
    });
  });

  test("says what there is not", async () => {
    await assert.rejects(router.explain({}, { policyId: "nobody-has-this" }), PolicyNotFound);
    await assert.rejects(router.decide({}, { workload: "invoices@1" }), WorkloadNotFound);
    await assert.rejects(router.getTrace(NOBODYS), TraceNotFound);
    await assert.rejects(router.decide({}, { inline: INLINE }), (error) => {
      return error instanceof PermissionDenied && error.reason === "ERROR_REASON_STATELESS_MODE_OFF";
    });
    const { traceId } = await decided();
    const attempts = [{ attemptId: "1", endpointId: "nobody's" }];
    await assert.rejects(router.report({ traceId, outcome: "accepted", attempts }), (error) => {
      assert.ok(error instanceof EndpointNotListed && error instanceof InvalidRequest);
      assert.deepEqual(
        error.violations.map((one) => one.field),
        ["report.attempts[0].endpoint_id"],
      );
      return true;
    });
  });

  test("is not asked what is no message, and all that is wrong is told at once", async () => {
    const wrong = { models: "a", inputTokens: 1.5, deadlineMs: -1, regions: "DE", model: 5 } as object;
    const message =
      /^RouteRequest: there is no field models; there are model, task, .*; inputTokens: .*1\.5; deadlineMs: .*-1; regions must be of type array and is of type string; model must be of type string and is of type number$/;
    await assert.rejects(router.decide(wrong), { name: "TypeError", message });
    await assert.rejects(
      router.report({ traceId: "", outcome: "", attempts: [{ attempt: "1" } as Partial<Attempt>] }),
      {
        message: /^Attempt: there is no field attempt; /,
      },
    );
    await assert.rejects(all(router.decideStream([{ request: { inputTokens: -1 } }])), /inputTokens/);
    await assert.rejects(router.reportStream([{ traceId: "", outcome: "", started: 1 } as ReportFields]), /started/);
    assert.throws(() => router.listTraces({ since: new Date(NaN) }), /^TypeError: ListTracesRequest: since: /);
  });

  test("is told no fault of the items of a stream, which come back", async () => {
    const fault = new RangeError("mine");
    async function* faulty(): AsyncGenerator<object> {
      yield await Promise.resolve({});
      throw fault;
    }
    await assert.rejects(all(router.decideStream(faulty())), fault);
    await assert.rejects(router.reportStream(faulty() as AsyncGenerator<ReportFields>), fault);
  });
});

test("a service for candidates of one's own, on a Unix socket", { skip: NO_PYTHON }, async () => {
  const target = `unix:${join(folder(), "router.sock")}`;
  await using _ = await serving("--listen", target, "--stateless", "--store", "none");
  await using router = new RouterClient(target);
  const answer = await router.decide({}, { inline: INLINE });
  assert.deepEqual(
    candidates(answer).map((one) => one.endpointId),
    ["here"],
  );
  await assert.rejects(router.getTrace(NOBODYS), (error) => {
    return error instanceof RouterUnavailable && error.reason === "ERROR_REASON_NO_STORE";
  });
});

test("a service that tells its callers apart, over TLS", { skip: NO_PYTHON }, async () => {
  const where = folder();
  const { key, cert } = await certificate();
  const sha256 = createHash("sha256").update("word").digest("hex");
  const callers = `callers: [{caller: me, roles: [decide], policies: ["*"]}]\ntokens: [{sha256: ${sha256}, caller: me}]\n`;
  for (const [name, text] of Object.entries({ key, cert, "callers.yaml": callers }))
    writeFileSync(join(where, name), text);
  const tls = [
    "--tls-cert",
    join(where, "cert"),
    "--tls-key",
    join(where, "key"),
    "--callers",
    join(where, "callers.yaml"),
  ];
  await using service = await serving("--listen", "tls:127.0.0.1:0", "--store", "none", ...tls);
  const target = service.target.replace("127.0.0.1", "localhost");
  const rootCerts = Buffer.from(cert);
  await using mine = new RouterClient(target, { tls: { rootCerts }, token: () => "word" });
  assert.ok(candidates(await mine.decide()).length > 0);
  for await (const { decision } of mine.decideStream([{}])) assert.ok(decision !== undefined);
  await assert.rejects(mine.listEndpoints().next(), PermissionDenied);
  await using nobodys = new RouterClient(target, { tls: { rootCerts }, token: "words" });
  await assert.rejects(nobodys.decide(), (error) => {
    return error instanceof Unauthenticated && error.reason === "ERROR_REASON_UNAUTHENTICATED";
  });
});
