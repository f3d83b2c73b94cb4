// What holds of every run, whatever backends do.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CallFailed, SEEN_KINDS, type Seen, Try, classify } from "@router-service/client";
import fc from "fast-check";

import type { Ended } from "../dist/attempts.js";
import { Failover } from "../dist/failover.js";
import { Candidate, Decision } from "../dist/generated/router_service/v1/route.js";
import { World } from "./scripted.js";

const CONTEXT = { error: { code: "context_length_exceeded" } };
const SEEN: fc.Arbitrary<Seen> = fc.oneof(
  fc.constantFrom(...SEEN_KINDS.filter((kind) => kind !== "http" && kind !== "grpc")).map((kind) => ({ kind })),
  fc.record({
    kind: fc.constant("http" as const),
    status: fc.constantFrom(400, 401, 404, 429, 503),
    headers: fc.constantFrom<Record<string, string>>(
      {},
      { "retry-after": "0" },
      { "retry-after": "1" },
      { "x-should-retry": "false" },
    ),
    body: fc.constantFrom(undefined, CONTEXT),
  }),
);
const CANDIDATES = fc.array(
  fc.record({ needMs: fc.nat(3000), contextWindow: fc.constantFrom(undefined, 4096, 8192) }),
  { minLength: 1, maxLength: 3 },
);
const BACKENDS = fc.array(fc.tuple(fc.nat(4000), fc.option(SEEN, { nil: undefined })), { minLength: 3, maxLength: 3 });
const DRAWS = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 9, maxLength: 9 });

test("what holds of every run", () => {
  fc.assert(
    fc.property(
      CANDIDATES,
      BACKENDS,
      fc.option(fc.nat(9000), { nil: undefined }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      DRAWS,
      (places, backends, spendableMs, maxAttempts, replayable, draws) => {
        const candidates = places.map((one, i) => Candidate.fromPartial({ ...one, endpointId: String(i) }));
        const runtime = new World(draws);
        const begun = runtime.clock();
        const failover = new Failover({ candidates, runtime, begun, spendableMs, maxAttempts, replayable });
        const steps = failover.steps();
        const calls: string[] = [];
        let last: Seen | undefined;
        let ended: Ended | undefined;
        for (;;) {
          const { done, value: step } = steps.next(ended);
          ended = undefined;
          if (done === true) {
            assert.equal(step === "accepted", calls.length > 0 && last === undefined);
            break;
          }
          if (step.kind === "wait") {
            assert.ok(calls.length > 0, "nobody waits before the first attempt");
            assert.ok(step.ms > 0 && step.ms <= 60_000);
            runtime.goneMs += step.ms;
            continue;
          }
          assert.ok(last === undefined || classify(last, runtime.now()).then !== "stop");
          assert.ok(replayable || last?.kind !== "lost");
          if (spendableMs !== undefined) {
            assert.ok(step.candidate.needMs <= (step.timeoutMs ?? -1));
            assert.ok((step.timeoutMs ?? Infinity) <= spendableMs - runtime.goneMs);
          }
          const { signal } = new AbortController();
          const attempt = new Try({ ...step, decision: Decision.fromPartial({}), signal, runtime });
          const [takes, seen] = backends[calls.length] ?? [0, undefined];
          calls.push(attempt.endpointId);
          runtime.goneMs += takes;
          last = seen;
          ended =
            seen === undefined
              ? { kind: "answered", attempt, validationResult: "" }
              : { kind: "failed", attempt, seen: new CallFailed(seen).seen };
        }
        assert.ok(calls.length <= maxAttempts);
        assert.deepEqual(
          failover.attempts.map((one) => one.endpointId),
          calls,
        );
        const firsts = calls.filter((one, i) => calls.indexOf(one) === i);
        assert.deepEqual(firsts, firsts.toSorted(), "down the list");
      },
    ),
    { numRuns: 1000 },
  );
});

test("a moment that goes by before the call never lifts the time-out", () => {
  // The clock goes on by a millisecond each time that it is read: the need fits no more once the call is to begin.
  let ticks = 0;
  const runtime = { clock: () => (ticks += 1), now: () => new Date(), random: () => 0 };
  const candidates = [Candidate.fromPartial({ endpointId: "a", needMs: 500 })];
  for (let spendableMs = 500; spendableMs < 520; spendableMs += 1) {
    const failover = new Failover({ candidates, runtime, begun: runtime.clock(), spendableMs });
    const { value: step } = failover.steps().next();
    assert.ok(
      step === "deadline_exhausted" ||
        (typeof step === "object" && step.kind === "call" && step.timeoutMs !== undefined && step.timeoutMs >= 500),
    );
  }
});
