// OpenAI's SDK for Node as it is: only baseURL is another one. Run by test_node_sdk.py, which starts what it speaks to.

import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "the client's own" });
const messages = [{ role: "user", content: "Good morning?" }];
const TEXT = "Good morning, Ada.";
const weather = z.object({ city: z.string(), degrees: z.number().int() });

/** The error of a request, which the SDK did not try again. */
async function refused(body, options) {
  let asked = 0;
  const counting = client.withOptions({
    fetch: (...given) => {
      asked += 1;
      return fetch(...given);
    },
  });
  const error = await counting.chat.completions.create({ messages, ...body }, options).then(
    () => assert.fail("it was answered"),
    (error) => error,
  );
  assert.equal(asked, 1);
  return error;
}

/** The words of a stream, its last chunk, and the error that it ended with. */
async function streamed(model, options) {
  const told = { text: "", last: undefined, error: undefined };
  try {
    const stream = await client.chat.completions.create({ model, messages, stream: true, ...options });
    for await (const chunk of stream) {
      told.text += chunk.choices[0]?.delta?.content ?? "";
      told.last = chunk;
    }
  } catch (error) {
    told.error = error;
  }
  return told;
}

test("a plain answer", async () => {
  const answer = await client.chat.completions.create({ model: "good", messages, max_tokens: 50 });
  assert.equal(answer.choices[0].message.content, TEXT);
  assert.equal(answer.usage.total_tokens, 16);
  assert.equal(answer.router.endpoint_id, "good@good");
  assert.equal(answer._request_id, answer.router.trace_id);
});

test("a stream, with the block in its last chunk", async () => {
  const { text, last, error } = await streamed("ill-then-good");
  assert.equal(error, undefined);
  assert.equal(text, TEXT);
  assert.equal(last.usage, undefined);
  assert.equal(last.choices[0].finish_reason, "stop");
  assert.deepEqual(last.router.attempts.map((one) => one.endpoint_id), ["ill@ill-then-good", "good@ill-then-good"]);
});

test("a stream with usage", async () => {
  const { last } = await streamed("good", { stream_options: { include_usage: true } });
  assert.equal(last.usage.total_tokens, 16);
  assert.equal(last.router.endpoint_id, "good@good");
});

test("tools", async () => {
  const tools = [zodFunction({ name: "weather", parameters: z.object({ city: z.string() }) })];
  const answer = await client.chat.completions.parse({ model: "good", messages, tools });
  assert.deepEqual(answer.choices[0].message.tool_calls[0].function.parsed_arguments, { city: "Bonn" });
  const other = await client.chat.completions.parse({ model: "wrong-tool-then-good", messages, tools });
  assert.deepEqual(other.router.attempts.map((one) => one.failure_class), ["invalid_response", null]);
});

test("images", async () => {
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  ];
  const answer = await client.chat.completions.create({ model: "good", messages: [{ role: "user", content }] });
  assert.equal(answer.choices[0].message.content, TEXT);
});

test("structured output is parsed", async () => {
  const response_format = zodResponseFormat(weather, "weather");
  for (const model of ["good", "wrong-schema-then-good"]) {
    const answer = await client.chat.completions.parse({ model, messages, response_format });
    assert.deepEqual(answer.choices[0].message.parsed, { city: "Bonn", degrees: 21 });
  }
});

test("models", async () => {
  const models = [];
  for await (const one of client.models.list()) models.push(one.id);
  assert.equal(models[0], "auto");
  assert.ok(models.includes("good"));
});

for (const [name, body, headers, kind, status, code] of [
  ["400", { model: "bad" }, {}, OpenAI.BadRequestError, 400, "invalid_value"],
  ["403", { model: "good" }, { "x-router-policy": "world" }, OpenAI.PermissionDeniedError, 403, "policy_not_allowed"],
  ["404", { model: "gone" }, {}, OpenAI.NotFoundError, 404, "model_not_found"],
  ["409", { model: "good" }, { "x-router-residency": "eu-owned" }, OpenAI.ConflictError, 409, "no_endpoint_for_policy"],
  ["503", { model: "ill" }, {}, OpenAI.InternalServerError, 503, "endpoints_failed"],
]) {
  test(`${name} is asked for once`, async () => {
    const error = await refused(body, { headers });
    assert.ok(error instanceof kind, `${error}`);
    assert.deepEqual([error.status, error.code], [status, code]);
  });
}

test("429 with Retry-After", async () => {
  const error = await refused({ model: "limited-node" }, { headers: { "x-router-deadline-ms": "3000" } });
  assert.ok(error instanceof OpenAI.RateLimitError);
  assert.equal(error.headers.get("retry-after"), "7");
});

test("an endpoint that dies in the middle is an error, and never the words of another", async () => {
  const { text, error } = await streamed("dies-node");
  assert.equal(text, "Good morning");
  assert.ok(error instanceof OpenAI.APIError);
  assert.equal(error.code, "outcome_unknown");
});

test("a client that hangs up", async () => {
  const stream = await client.chat.completions.create({ model: "endless-node", messages, stream: true });
  let words = 0;
  for await (const _chunk of stream) if (++words === 5) stream.controller.abort();
  assert.ok(words >= 5);
});
