// What is seen of what HTTP libraries and SDKs throw and answer, by real calls of each.

import assert from "node:assert/strict";
import { type IncomingMessage, createServer as createHttpServer, request as httpRequest } from "node:http";
import { createServer as createTlsServer, request as httpsRequest } from "node:https";
import { createServer } from "node:net";
import { after, before, describe, test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { CallFailed, type Seen, classify, seenOfError, seenOfResponse } from "@router-service/client";
import axios from "axios";
import OpenAI from "openai";
import { request as undiciRequest } from "undici";

import { Backend, LIMITED, listening, refusing } from "./faults.js";
import { certificate } from "./tls.js";

/** One attempt with a library: `url` is asked for, and what is an error is thrown. */
type Library = (url: string, signal: AbortSignal) => Promise<unknown>;

async function nodeHttp(url: string, signal: AbortSignal): Promise<unknown> {
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send(url, { method: "POST", signal }, resolve).on("error", reject).end("{}");
  });
  if ((response.statusCode ?? 0) >= 400) throw new CallFailed(await seenOfResponse(response));
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString());
}

const MESSAGES = [{ role: "user" as const, content: "Is it?" }];

const LIBRARIES: Readonly<Record<string, Library>> = {
  fetch: async (url, signal) => {
    const response = await fetch(url, { method: "POST", body: "{}", signal });
    if (!response.ok) throw new CallFailed(await seenOfResponse(response));
    return await response.json();
  },
  undici: async (url, signal) => {
    const response = await undiciRequest(url, { method: "POST", body: "{}", signal });
    if (response.statusCode >= 400) throw new CallFailed(await seenOfResponse(response));
    return await response.body.json();
  },
  axios: async (url, signal) => {
    const parsing = { responseType: "json", transitional: { silentJSONParsing: false } } as const;
    const { data } = await axios.post<unknown>(url, {}, { signal, ...parsing });
    return data;
  },
  "node:http": nodeHttp,
  openai: async (url, signal) => {
    const client = new OpenAI({ baseURL: url, apiKey: "k", maxRetries: 0 });
    return await client.chat.completions.create({ model: "m", messages: MESSAGES }, { signal });
  },
  anthropic: async (url, signal) => {
    const client = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0 });
    return await client.messages.create({ model: "m", max_tokens: 9, messages: MESSAGES }, { signal });
  },
};

async function seenOf(call: Promise<unknown>): Promise<Seen | undefined> {
  try {
    await call;
  } catch (error) {
    return seenOfError(error);
  }
  return assert.fail("nothing went wrong");
}

describe("what is seen", () => {
  let backend: Backend;
  before(async () => {
    backend = await Backend.start();
  });
  after(async () => {
    await backend[Symbol.asyncDispose]();
  });
  const { signal } = new AbortController();

  for (const [name, ask] of Object.entries(LIBRARIES)) {
    const seen = async (url: string, given = signal): Promise<Seen | undefined> => await seenOf(ask(url, given));

    test("what fetch refuses to call at all was not sent", async () => {
      for (const url of ["http://127.0.0.1:1/", "router://127.0.0.1/"]) {
        assert.equal(seenOfError(await fetch(url).catch((error: unknown) => error))?.kind, "connect", url);
      }
    });

    test(`of ${name}: what was never sent`, async () => {
      for (const url of [await refusing(), "http://router-service.invalid:8080"]) {
        assert.equal((await seen(url))?.kind, "connect", url);
      }
    });

    test(`of ${name}: TLS that does not come about`, async () => {
      await using strange = await listening(createTlsServer(await certificate()));
      assert.equal((await seen(`https://localhost:${strange.port}`))?.kind, "connect", "nobody vouches for it");
      await using plain = await listening(createHttpServer());
      assert.equal((await seen(`https://127.0.0.1:${plain.port}`))?.kind, "connect", "plain text where TLS is spoken");
      await using rude = await listening(createServer((socket) => socket.destroy()));
      assert.equal((await seen(`https://127.0.0.1:${rude.port}`))?.kind, "connect", "hung up in the handshake");
    });

    test(`of ${name}: what was lost after it was sent`, async () => {
      for (const fault of ["reset", "truncated", "nonsense"]) {
        assert.equal((await seen(backend.at(fault)))?.kind, "lost", fault);
      }
      assert.equal((await seen(backend.at("hang"), AbortSignal.timeout(100)))?.kind, OF_TIMEOUT[name] ?? "lost");
    });

    test(`of ${name}: what somebody cancelled`, async () => {
      const caller = new AbortController();
      setTimeout(() => caller.abort(), 50);
      assert.equal((await seen(backend.at("hang"), caller.signal))?.kind, "caller_cancelled");
    });

    test(`of ${name}: answers that are errors`, async () => {
      const limited = await seen(backend.at("limited"));
      assert.deepEqual([limited?.kind, limited?.status, limited?.headers?.["retry-after"]], ["http", 429, "30"]);
      const body: unknown = limited?.body;
      assert.deepEqual(typeof body === "string" ? JSON.parse(body) : body, LIMITED);
      const overloaded = classify((await seen(backend.at("overloaded"))) ?? { kind: "lost" });
      assert.deepEqual([overloaded.statusCode, overloaded.errorCode], [529, "overloaded_error"]);
      const ill = classify((await seen(backend.at("ill"))) ?? { kind: "lost" });
      assert.deepEqual([ill.failureClass, ill.statusCode], ["transient", 503]);
    });

    test(`of ${name}: an answer that does not parse`, async () => {
      const malformed = await seen(backend.at("malformed"));
      assert.deepEqual(malformed, { kind: "acceptance_failed", why: "the answer does not parse" });
    });

    test(`of ${name}: nothing is sent twice`, async () => {
      backend.asked.length = 0;
      for (const fault of ["limited", "ill", "reset"]) await seen(backend.at(fault));
      assert.deepEqual(backend.asked, ["limited", "ill", "reset"]);
    });
  }

  test("of time-outs of a library's own", async () => {
    const url = backend.at("hang");
    const timeout = 100;
    assert.equal((await seenOf(axios.get(url, { timeout })))?.kind, "lost");
    assert.equal((await seenOf(undiciRequest(url, { headersTimeout: timeout })))?.kind, "lost");
    const openai = new OpenAI({ baseURL: url, apiKey: "k", maxRetries: 0, timeout });
    assert.equal((await seenOf(openai.models.list()))?.kind, "lost");
    const anthropic = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0, timeout });
    assert.equal((await seenOf(anthropic.models.list()))?.kind, "lost");
  });

  test("of errors in the middle of the SDKs' streams", async () => {
    const options = { apiKey: "k", maxRetries: 0 };
    const openai = async (): Promise<void> => {
      const client = new OpenAI({ ...options, baseURL: backend.at("openai-stream") });
      for await (const _ of await client.chat.completions.create({ model: "m", messages: MESSAGES, stream: true }));
    };
    const stumbled = classify((await seenOf(openai())) ?? { kind: "lost" });
    assert.deepEqual(
      [stumbled.failureClass, stumbled.statusCode, stumbled.errorCode],
      ["transient", 503, "server_error"],
    );
    const anthropic = async (): Promise<void> => {
      const client = new Anthropic({ ...options, baseURL: backend.at("anthropic-stream") });
      const asked = { model: "m", max_tokens: 9, messages: MESSAGES, stream: true as const };
      for await (const _ of await client.messages.create(asked));
    };
    const overloaded = classify((await seenOf(anthropic())) ?? { kind: "lost" });
    assert.deepEqual([overloaded.failureClass, overloaded.errorCode], ["transient", "overloaded_error"]);
  });

  test("of axios' and node:http's answers as they are, and of bodies that cannot be read", async () => {
    const url = backend.at("limited");
    const answer = await axios.get(url, { validateStatus: null });
    assert.deepEqual((await seenOfResponse(answer)).body, LIMITED);
    const stream = await axios.get(url, { validateStatus: null, responseType: "stream" });
    assert.deepEqual((await seenOfResponse(stream)).body, JSON.stringify(LIMITED));
    const broken = await seenOfResponse(await fetch(backend.at("truncated")));
    assert.deepEqual([broken.status, broken.body], [200, undefined]);
    const bytes = { status: 400, headers: { "x-a": ["1", "2"] }, data: Buffer.from("{}") };
    assert.deepEqual(await seenOfResponse(bytes), { kind: "http", status: 400, headers: { "x-a": "1,2" }, body: "{}" });
  });
});

/** SDKs say the same of every signal, whatever its reason: runs know whose time was over. */
const OF_TIMEOUT: Readonly<Record<string, string>> = {
  axios: "caller_cancelled",
  "node:http": "caller_cancelled",
  openai: "caller_cancelled",
  anthropic: "caller_cancelled",
};

describe("what is seen of an error by its form", () => {
  const withCode = (code: string, more: object = {}): Error => Object.assign(new Error("m"), { code, ...more });
  const aws = Object.assign(new Error("Rate exceeded"), {
    name: "ThrottlingException",
    $metadata: { httpStatusCode: 429 },
  });

  const cases: readonly (readonly [string, unknown, Seen | undefined])[] = [
    ["CallFailed", CallFailed.notConnected("tls"), { kind: "connect", why: "tls" }],
    ["lost", CallFailed.lost(), { kind: "lost", why: undefined }],
    ["brokenOff", CallFailed.brokenOff(), { kind: "broken_off", why: undefined }],
    ["cancelled", CallFailed.cancelled(), { kind: "caller_cancelled" }],
    ["notAccepted", CallFailed.notAccepted("why"), { kind: "acceptance_failed", status: 200, why: "why" }],
    ["contentRefused", CallFailed.contentRefused(), { kind: "content_refused" }],
    ["what caused it", new Error("mine", { cause: CallFailed.lost() }), { kind: "lost", why: undefined }],
    [
      "a connect that took too long",
      withCode("ETIMEDOUT", { syscall: "connect" }),
      { kind: "connect", why: "ETIMEDOUT" },
    ],
    ["an answer that took too long", withCode("ETIMEDOUT"), { kind: "lost", why: "ETIMEDOUT" }],
    ["an address of several", new AggregateError([withCode("ECONNREFUSED")]), { kind: "connect", why: "ECONNREFUSED" }],
    [
      "a Bedrock error",
      aws,
      { kind: "http", status: 429, headers: {}, body: { __type: "ThrottlingException", message: "Rate exceeded" } },
    ],
    ["a fault of one's own", new RangeError("mine"), undefined],
    ["a status of one's own", Object.assign(new Error("mine"), { status: 503 }), undefined],
    ["a URL that is none", withCode("ERR_INVALID_URL"), undefined],
    ["a pattern that is none", new SyntaxError("Invalid regular expression: /(/: Unterminated group"), undefined],
    ["no error at all", "words", undefined],
  ];
  for (const [name, error, expected] of cases) {
    test(name, () => {
      assert.deepEqual(seenOfError(error), expected);
    });
  }

  test("a circle of causes ends", () => {
    const one = new Error("one");
    one.cause = new Error("two", { cause: one });
    assert.equal(seenOfError(one), undefined);
  });

  test("a kind must be known", () => {
    assert.throws(() => new CallFailed({ kind: "odd" as "lost" }), /"odd" is no kind of Seen/);
  });
});
