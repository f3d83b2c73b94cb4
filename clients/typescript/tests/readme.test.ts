// Every example of README.md is of the types that it says, and runs, against a real service and a real backend.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { RouterClient } from "@router-service/client";

import { Backend } from "./faults.js";
import { NO_PYTHON } from "./python.js";
import { type Serving, serving } from "./serving.js";
import { certificate } from "./tls.js";

const run = promisify(execFile);
const PACKAGE = new URL("..", import.meta.url);
// Inside the package, so that the examples find it by its name.
const FOLDER = new URL("dist-examples/readme/", PACKAGE);

// What the examples leave to their reader.
const PRELUDE = `
interface ChatCompletion { choices: unknown[]; usage?: { prompt_tokens?: number; completion_tokens?: number } }
const BACKENDS: Record<string, { url: string; key: string }> = new Proxy({}, {
  get: () => ({ url: process.env["BACKEND"], key: "k" }),
});
const body = "{}";
const check = (answer: ChatCompletion) => (answer.choices.length > 0 ? "" : "no choices");
const INVOICE = { type: "object", required: ["total"] };
const PAY_ARGUMENTS = { type: "object" };
const callForInvoice = () => ({ choices: [{ message: { content: '{"total": 1}' }, finish_reason: "stop" }] });
const toPay = { amount: 3 };
const pay = ({ amount }: { amount: number }) => ({ paid: amount });
`;
const OPTIONS = [
  "--ignoreConfig",
  "--strict",
  "--target",
  "es2023",
  "--module",
  "nodenext",
  "--lib",
  "es2023,esnext.disposable",
];

/** What each example prints. */
const PRINTED: readonly RegExp[] = [
  /^mistral-large@\S+ \d+\n/,
  /finish_reason: 'stop'/,
  /^Yes\.\n$/,
  /^accepted\n$/,
  /^\{ paid: 3 \}\n$/,
  /^[0-9a-f]{32} .+\n/,
  /^coding \S+\ncheap \S+\n(\S+ closed\n)+[0-9a-f]{12,}\n$/,
  /^$/,
];

describe("README.md", { skip: NO_PYTHON }, () => {
  const readme = readFileSync(new URL("README.md", PACKAGE), "utf8");
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  let service: Serving;
  let backend: Backend;

  before(async () => {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    service = await serving("--listen", "127.0.0.1:0", "--store", `sqlite:${fileURLToPath(FOLDER)}router.db`);
    backend = await Backend.start();
    await using router = new RouterClient(service.target);
    await router.decide({ model: "no-such-model-at-all" }); // what the examples list
    writeFileSync(new URL("ca.pem", FOLDER), (await certificate()).cert);
    writeFileSync(new URL("token", FOLDER), "mine\n");
    examples.forEach((code, i) => {
      const here = code.replaceAll(
        /new RouterClient\((|"127\.0\.0\.1:50051")(?=[,)])/g,
        `new RouterClient("${service.target}"`,
      );
      writeFileSync(new URL(`${i}.ts`, FOLDER), PRELUDE + here);
    });
    const files = examples.map((_, i) => `${i}.ts`);
    const tsc = fileURLToPath(new URL("node_modules/typescript/bin/tsc", PACKAGE));
    const checked = spawnSync(process.execPath, [tsc, ...OPTIONS, "--types", "node", ...files], { cwd: FOLDER });
    assert.equal(checked.status, 0, checked.stdout.toString());
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
  });

  test("has these examples", () => {
    assert.equal(examples.length, PRINTED.length);
  });

  PRINTED.forEach((printed, i) => {
    test(`example ${i + 1} runs and prints ${String(printed)}`, async () => {
      const env = { ...process.env, BACKEND: backend.at("good") };
      const { stdout, stderr } = await run(process.execPath, [`${i}.js`], { cwd: FOLDER, env, timeout: 60_000 });
      assert.match(stdout, printed);
      assert.equal(stderr, "");
    });
  });
});
