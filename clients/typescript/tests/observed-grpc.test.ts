// What is seen of gRPC backends, by real calls with grpc-js.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Client, Metadata, Server, ServerCredentials, type ServiceError, credentials, status } from "@grpc/grpc-js";
import { type Seen, type StatusName, classify, seenOfError } from "@router-service/client";

import { refusing } from "./faults.js";

const METHOD = "/a.B/C";
const bytes = (value: Buffer): Buffer => value;

/** A backend whose one method fails so. */
async function failing(failure: Partial<ServiceError>): Promise<AsyncDisposable & { target: string }> {
  const server = new Server();
  const method = {
    path: METHOD,
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  server.addService({ c: method }, { c: (_call: unknown, answer: (error: object) => void) => answer(failure) });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    target: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.forceShutdown();
      await Promise.resolve();
    },
  };
}

async function seenAt(target: string, options: { deadline?: number; cancel?: boolean } = {}): Promise<Seen> {
  const client = new Client(target, credentials.createInsecure());
  const error = await new Promise<unknown>((resolve) => {
    const { deadline, cancel = false } = options;
    const given = deadline === undefined ? {} : { deadline };
    const call = client.makeUnaryRequest(METHOD, bytes, bytes, Buffer.from(""), new Metadata(), given, resolve);
    if (cancel) call.cancel();
  });
  client.close();
  return seenOfError(error) ?? assert.fail("nothing was seen");
}

/** A message of one field that is bytes. */
function field(number: number, value: Uint8Array | string): Uint8Array {
  const given = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(given).finish();
}

function any(name: string, value: Uint8Array): Uint8Array {
  return field(3, Buffer.concat([field(1, `type.googleapis.com/google.rpc.${name}`), field(2, value)]));
}

describe("of a gRPC backend is seen", () => {
  test("one that nobody listens at: it was never sent", async () => {
    const seen = await seenAt((await refusing()).replace("http://", ""));
    assert.deepEqual([seen.kind, seen.code, seen.sent], ["grpc", "UNAVAILABLE", false]);
    assert.equal(classify(seen).then, "same_once");
  });

  test("one that cannot be resolved", async () => {
    const seen = await seenAt("router-service.invalid:1");
    assert.deepEqual([seen.code, seen.sent], ["UNAVAILABLE", false]);
  });

  test("one that is not well, which it says itself", async () => {
    for (const [code, then] of [
      ["UNAVAILABLE", "next"],
      ["PERMISSION_DENIED", "next"],
      ["INVALID_ARGUMENT", "stop"],
    ] as const) {
      await using backend = await failing({ code: status[code], details: "secret" });
      const seen = await seenAt(backend.target);
      assert.deepEqual([seen.code, seen.sent], [code satisfies StatusName, true]);
      assert.deepEqual([classify(seen).statusCode, classify(seen).then], [status[code], then]);
    }
  });

  test("one that cancels, which nobody here asked for", async () => {
    await using backend = await failing({ code: status.CANCELLED, details: "by the backend itself" });
    const seen = await seenAt(backend.target);
    assert.deepEqual([seen.kind, seen.code], ["grpc", "CANCELLED"]);
    const { failureClass, statusCode, then } = classify(seen);
    assert.deepEqual([failureClass, statusCode, then], ["ambiguous", 1, "next_if_replayable"]);
  });

  test("one that tells a reason and how long to wait", async () => {
    const duration = new BinaryWriter()
      .tag(1, WireType.Varint)
      .int64(34)
      .tag(2, WireType.Varint)
      .int32(500_000_000)
      .finish();
    const told = Buffer.concat([
      any("ErrorInfo", field(1, "RATE_LIMIT_EXCEEDED")),
      any("RetryInfo", field(1, duration)),
    ]);
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", told);
    await using backend = await failing({ code: status.RESOURCE_EXHAUSTED, details: "slow down", metadata });
    const verdict = classify(await seenAt(backend.target));
    assert.deepEqual([verdict.errorCode, verdict.retryAfterMs], ["RATE_LIMIT_EXCEEDED", 34_500]);
  });

  test("one whose details nobody can read", async () => {
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from([0xff, 0xff, 0xff]));
    await using backend = await failing({ code: status.UNAVAILABLE, metadata });
    assert.equal(classify(await seenAt(backend.target)).failureClass, "transient");
  });

  test("what was cancelled, and what took too long", async () => {
    await using backend = await failing({ code: status.UNAVAILABLE });
    assert.deepEqual(await seenAt(backend.target, { cancel: true }), { kind: "caller_cancelled" });
    const late = classify(await seenAt(backend.target, { deadline: Date.now() - 1 }));
    assert.deepEqual([late.failureClass, late.statusCode], ["ambiguous", 4]);
  });
});
