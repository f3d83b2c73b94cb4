// Acceptance: what passes, what does not and why, and that nothing of an answer is in what it says.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { CallFailed } from "@router-service/client";
import {
  type Envelope,
  type JsonSchema,
  NotAnEnvelope,
  acceptance,
  anthropicEnvelope,
  openaiEnvelope,
} from "@router-service/client/acceptance";

const SCHEMA = {
  type: "object",
  properties: { total: { type: "number" }, day: { type: "string", format: "date" } },
  required: ["total"],
  additionalProperties: false,
};
const TOOLS = {
  pay: { type: "object", properties: { amount: { type: "integer", minimum: 1 } }, required: ["amount"] },
};

function chat(content: unknown = "words", ended = "stop", more: object = {}): Record<string, unknown> {
  return { choices: [{ message: { role: "assistant", content, ...more }, finish_reason: ended }] };
}

function calling(name: string, given: unknown): Record<string, unknown> {
  const tool_calls = [{ id: "1", type: "function", function: { name, arguments: given } }];
  return chat(null, "tool_calls", { tool_calls });
}

const FREE = acceptance();
const STRUCTURED = acceptance({ schema: SCHEMA });
const WITH_TOOLS = acceptance({ schema: SCHEMA, tools: TOOLS });
const LONG = acceptance({ checks: [({ text }) => (text.length < 9 ? "too short" : undefined), () => null] });

describe("acceptance says", () => {
  const cases: readonly (readonly [(answer: unknown) => string, unknown, string])[] = [
    [FREE, chat(), ""],
    [FREE, JSON.stringify(chat()), ""],
    [FREE, Buffer.from(JSON.stringify(chat())), ""],
    [FREE, "secret", "the envelope does not parse"],
    [FREE, undefined, "the envelope does not parse"],
    [FREE, [chat()], "the envelope does not parse"],
    [FREE, { choices: [] }, "the envelope does not parse"],
    [FREE, { error: { message: "secret" } }, "the envelope does not parse"],
    [FREE, chat(["secret"]), "the envelope does not parse"],
    [FREE, chat(null, "tool_calls", { tool_calls: [{ function: { name: "secret" } }] }), "the envelope does not parse"],
    [FREE, chat("secret", "length"), "the answer is cut off"],
    [acceptance({ whole: false }), chat("secret", "length"), ""],
    [STRUCTURED, chat('{"total": 12.5}'), ""],
    [STRUCTURED, chat(' \n{"total": 12.5}\n'), ""],
    [STRUCTURED, chat('```json\n{"total": 12.5}\n```'), "the answer: no JSON"],
    [STRUCTURED, chat("{'total': 12.5}"), "the answer: no JSON"],
    [STRUCTURED, chat('{"total": NaN}'), "the answer: no JSON"],
    [STRUCTURED, chat(""), "the answer: no JSON"],
    [STRUCTURED, chat('{"total": "secret"}'), "the answer: not of its schema at /properties/total/type"],
    [STRUCTURED, chat('{"total": 1, "secret": 1}'), "the answer: not of its schema at /additionalProperties"],
    [STRUCTURED, chat('{"total": 1, "day": "secret"}'), "the answer: not of its schema at /properties/day/format"],
    [STRUCTURED, chat("{}"), "the answer: not of its schema at /required"],
    [WITH_TOOLS, calling("pay", '{"amount": 3}'), ""],
    [WITH_TOOLS, calling("secret", "{}"), "a tool that is not registered"],
    [WITH_TOOLS, calling("constructor", "{}"), "a tool that is not registered"],
    [WITH_TOOLS, calling("pay", '{"amount": '), "the arguments of pay: no JSON"],
    [
      WITH_TOOLS,
      calling("pay", '{"amount": 0}'),
      "the arguments of pay: not of its schema at /properties/amount/minimum",
    ],
    [FREE, calling("pay", "{}"), "a tool that is not registered"],
    [LONG, chat("secret"), "too short"],
    [LONG, chat("long enough"), ""],
  ];
  for (const [accept, answer, wrong] of cases) {
    test(`"${wrong}" of ${JSON.stringify(answer)}`, () => {
      const said = accept(answer);
      assert.equal(said, wrong);
      assert.doesNotMatch(said, /secret/);
    });
  }
});

describe("acceptance", () => {
  for (const answer of [chat("", "content_filter"), chat(null, "stop", { refusal: "I cannot." })]) {
    test(`ends the run where the content is refused: ${JSON.stringify(answer)}`, () => {
      assert.throws(
        () => FREE(answer),
        (error) => error instanceof CallFailed && error.seen.kind === "content_refused",
      );
    });
  }

  test("reads answers of Anthropic", () => {
    const accept = acceptance({ tools: TOOLS, envelope: anthropicEnvelope });
    const text = { type: "text", text: "words" };
    const use = { type: "tool_use", id: "1", name: "pay", input: { amount: 3 } };
    assert.equal(accept({ content: [text, use], stop_reason: "tool_use" }), "");
    assert.equal(accept({ content: [text], stop_reason: "max_tokens" }), "the answer is cut off");
    const wrong = accept({ content: [{ ...use, input: {} }] });
    assert.equal(wrong, "the arguments of pay: not of its schema at /required");
    assert.equal(accept({ content: null }), "the envelope does not parse");
    assert.throws(() => accept({ content: [], stop_reason: "refusal" }), CallFailed);
  });

  test("holds schemas to the draft that they are of", () => {
    // An array of `items` is a place for each item in draft-07, and no schema in 2020-12, which says prefixItems.
    const pair = [{ type: "string" }, { type: "number" }];
    const old = { $schema: "http://json-schema.org/draft-07/schema#", items: pair };
    const now = { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: pair };
    for (const schema of [old, now, { prefixItems: pair }]) {
      const accept = acceptance({ schema });
      assert.equal(accept(chat('["a", 1]')), "");
      assert.match(accept(chat("[1, 1]")), /^the answer: not of its schema at \/(items|prefixItems)\/0\/type$/);
    }
    const unevaluated: JsonSchema = { allOf: [{ properties: { a: true } }], unevaluatedProperties: false };
    assert.match(acceptance({ schema: unevaluated })(chat('{"b": 1}')), /unevaluatedProperties$/);
    const referring = { $defs: { sum: { type: "number" } }, properties: { total: { $ref: "#/$defs/sum" } } };
    assert.match(acceptance({ schema: referring })(chat('{"total": ""}')), /\/\$defs\/sum\/type$/);
  });

  test("forgives words in a schema that are not of its draft", () => {
    const schema = { type: "object", strict: true, properties: { day: { type: "string", format: "of-ours" } } };
    assert.equal(acceptance({ schema })(chat('{"day": "x"}')), "");
  });

  test("refuses what is no schema, by name", () => {
    assert.throws(() => acceptance({ schema: { type: "odd" } }), {
      name: "TypeError",
      message: /^schema: schema is invalid/,
    });
    assert.throws(() => acceptance({ tools: { pay: { $ref: "#/nowhere" } } }), /^TypeError: tools\.pay: /);
    assert.throws(() => acceptance({ schema: { $schema: "draft-04" } }), /\$schema is "draft-04"; use https:/);
  });

  test("refuses a schema that refers to what is not in it, and fetches nothing", () => {
    for (const schema of [
      { $ref: "http://127.0.0.1:1/schema" },
      { properties: { total: { $ref: "#/$defs/missing" } } },
      { $schema: "http://json-schema.org/draft-07/schema#", items: [{ $ref: "other.json" }] },
    ]) {
      assert.throws(() => acceptance({ schema }), /^TypeError: schema: can't resolve reference/);
    }
  });

  test("takes a schema that refers to itself, if it ends", () => {
    const node = { properties: { next: { $ref: "#/$defs/node" } }, type: "object" };
    const accept = acceptance({ schema: { $defs: { node }, $ref: "#/$defs/node" } });
    assert.equal(accept(chat('{"next": {"next": {}}}')), "");
    assert.match(accept(chat('{"next": 1}')), /^the answer: not of its schema at /);
    const endless = acceptance({ schema: { $ref: "#" } });
    assert.match(endless(chat("{}")), /^the answer: nested too deeply, or its schema refers to itself/);
    const deep = `${'{"next":'.repeat(100_000)}{}${"}".repeat(100_000)}`;
    assert.match(accept(chat(deep)), /^the answer: nested too deeply/);
  });

  test("lets a custom tool take free text", () => {
    const custom = (name: string, input: unknown): Record<string, unknown> =>
      chat(null, "tool_calls", { tool_calls: [{ id: "1", type: "custom", custom: { name, input } }] });
    const accept = acceptance({ tools: { shell: null, ...TOOLS } });
    assert.equal(accept(custom("shell", "ls {")), "");
    assert.equal(accept(custom("shell", {})), "the arguments of shell: no text");
    assert.equal(accept(custom("python", "1")), "a tool that is not registered");
    assert.equal(accept(calling("pay", '{"amount": 1}')), "");
  });

  test("takes an envelope of one's own, and throws on what goes wrong in it", () => {
    const envelope = (answer: unknown): Envelope => {
      if (typeof answer !== "string") throw new RangeError("mine");
      return { text: answer, toolCalls: [], truncated: false, refused: false };
    };
    const accept = acceptance({ envelope, schema: { const: 1 } });
    assert.equal(accept("1"), "");
    assert.throws(() => accept(1), RangeError);
    assert.throws(() => openaiEnvelope({}), NotAnEnvelope);
  });
});
