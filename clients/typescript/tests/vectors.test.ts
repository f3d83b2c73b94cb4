// The vectors of clients/conformance, but for whole runs, and that the table that ships is the common one.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { inspect } from "node:util";

import { type Seen, type Verdict, canonicalJson, classify, executionKey } from "@router-service/client";

import { allowanceMs, allowancesMs, fits, jitterMs, spendableMs } from "../dist/time-budget.js";
import { CONFORMANCE, type Case, camel, vectors } from "./vectors.js";

interface ClassificationCase {
  readonly name: string;
  readonly seen: Seen;
  readonly need_ms?: number;
  readonly expect: Case;
}

describe("classification.json", () => {
  const { now, cases } = vectors<{ now: string; cases: ClassificationCase[] }>("classification.json");
  assert.ok(cases.length >= 224);
  for (const { name, seen, need_ms, expect } of cases) {
    test(name, () => {
      const { class: failureClass, suppress_for_ms: _service, effect, ...others } = expect;
      const wanted = { failureClass, ...camel<Partial<Verdict>>(others) };
      const { effect: told, ...verdict } = classify(seen, new Date(now));
      const given = Object.fromEntries(Object.entries(verdict).filter(([, value]) => value !== undefined));
      assert.deepEqual(given, wanted);
      if (need_ms === undefined) assert.equal(told, effect); // else the service knows better
    });
  }
});

describe("time_division.json", () => {
  const division = vectors<{
    allowances: { spendable_ms: number; attempts: number; expect_ms: number[] }[];
    before_an_attempt: {
      deadline_ms: number;
      gone_ms: number;
      needs_ms: number[];
      attempts_left: number;
      expect: { left_ms: number; allowances_ms: number[]; starts: boolean };
    }[];
  }>("time_division.json");
  for (const { spendable_ms, attempts, expect_ms } of division.allowances) {
    test(`${String(spendable_ms)} ms over ${String(attempts)}`, () => {
      assert.deepEqual(allowancesMs(spendable_ms, attempts), expect_ms);
    });
  }
  for (const one of division.before_an_attempt) {
    test(`before an attempt: ${JSON.stringify(one)}`, () => {
      const left = spendableMs(one.deadline_ms) - one.gone_ms;
      assert.equal(left, one.expect.left_ms);
      const allowed = allowanceMs(left, one.needs_ms, one.attempts_left);
      assert.equal(allowed, one.expect.starts ? one.expect.allowances_ms[0] : undefined);
    });
  }
});

describe("waiting.json", () => {
  const waiting = vectors<{
    jitter: { retries: number; draw: number; expect_ms: number }[];
    retry_after: {
      retry_after_ms: number;
      since_ms: number;
      need_ms: number;
      left_ms: number | null;
      expect_ms: number | null;
    }[];
  }>("waiting.json");
  for (const { retries, draw, expect_ms } of waiting.jitter) {
    test(`jitter after ${String(retries)} retries, ${String(draw)} drawn`, () => {
      assert.equal(jitterMs(retries, draw), expect_ms);
    });
  }
  for (const one of waiting.retry_after) {
    test(`a Retry-After takes its place: ${JSON.stringify(one)}`, () => {
      const wait = Math.max(0, one.retry_after_ms - one.since_ms);
      assert.equal(fits(wait, one.need_ms, one.left_ms ?? undefined) ? wait : null, one.expect_ms);
    });
  }
});

describe("execution_keys.json", () => {
  const keys = vectors<{
    cases: { operation_id: string; tool_name: string; arguments: string; canonical: string; key: string }[];
    refused: { arguments: string }[];
  }>("execution_keys.json");
  for (const one of keys.cases) {
    test(one.arguments, () => {
      const given: unknown = JSON.parse(one.arguments);
      assert.equal(canonicalJson(given), one.canonical);
      assert.equal(executionKey(one.operation_id, one.tool_name, given), one.key);
      assert.equal(canonicalJson(JSON.parse(one.canonical)), one.canonical);
    });
  }
  // The first is another number as soon as JSON.parse has read it, as clients/conformance says.
  for (const { arguments: text } of keys.refused.slice(1)) {
    test(`${text} has none`, () => {
      assert.throws(() => canonicalJson(JSON.parse(text)), /canonical form|JSON/);
    });
  }
  for (const value of [new Map([[1, 2]]), new Date(0), undefined, { a: undefined }, 5n, () => 1, Symbol("s")]) {
    test(`${inspect(value)} has none`, () => {
      assert.throws(() => canonicalJson(value), { name: "TypeError", message: /has no canonical form/ });
    });
  }
  test("the parts of a key cannot run into each other", () => {
    assert.notEqual(executionKey("a", "bc", {}), executionKey("ab", "c", {}));
    assert.throws(() => executionKey("a\0b", "c", {}), /zero character/);
    assert.throws(() => executionKey("a\ud800", "c", {}), /half a surrogate pair/);
  });
});

test("the table that ships is the common one, byte for byte", () => {
  const common = readFileSync(new URL("failure_classes.json", CONFORMANCE));
  for (const shipped of ["../src/failure_classes.json", "../dist/failure_classes.json"]) {
    assert.ok(readFileSync(new URL(shipped, import.meta.url)).equals(common), shipped);
  }
});
