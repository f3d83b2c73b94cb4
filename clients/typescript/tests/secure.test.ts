// TLS and tokens, and over what no token goes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Client, ServerCredentials, credentials } from "@grpc/grpc-js";
import {
  RouterClient,
  type RouterClientOptions,
  RouterTimeout,
  RouterUnavailable,
  Unauthenticated,
} from "@router-service/client";

import { reportMessage } from "../dist/messages.js";
import { ScriptedService } from "./scripted.js";
import { certificate } from "./tls.js";

async function secured(): Promise<{ service: ScriptedService; rootCerts: Buffer; target: string }> {
  const { key, cert } = await certificate();
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
  const service = await ScriptedService.start(ServerCredentials.createSsl(null, [pair]));
  service.case = { candidates: [] };
  return { service, rootCerts: Buffer.from(cert), target: service.target.replace("127.0.0.1", "localhost") };
}

describe("TLS", () => {
  test("with the authority of the service, and a token for each call", async () => {
    const { service, rootCerts, target } = await secured();
    await using _ = service;
    let asked = 0;
    const token = async (): Promise<string> => {
      asked += 1;
      return await Promise.resolve(`number-${asked}`);
    };
    await using router = new RouterClient(target, { tls: { rootCerts }, token });
    await router.decide();
    await router.decide();
    assert.deepEqual(service.authorizations, ["Bearer number-1", "Bearer number-2"]);
    await using own = new RouterClient(target, { credentials: credentials.createSsl(rootCerts), token: "mine" });
    await own.decide();
    assert.equal(service.authorizations.at(-1), "Bearer mine");
  });

  test("a service that nobody vouches for is not spoken to", async () => {
    const { service, target } = await secured();
    await using _ = service;
    await using router = new RouterClient(target, { tls: true, token: "secret" });
    await assert.rejects(router.decide(), RouterUnavailable);
    assert.deepEqual(service.authorizations, []);
  });
});

describe("a token", () => {
  test("goes over loopback, with streams too", async () => {
    await using service = await ScriptedService.start();
    service.case = { candidates: [] };
    await using router = new RouterClient(service.target, { token: "mine" });
    await router.decide();
    assert.deepEqual(service.authorizations, ["Bearer mine"]);
    await using plain = new RouterClient(service.target);
    await plain.decide();
    assert.equal(service.authorizations.length, 1);
  });

  for (const target of [
    "127.0.0.1:1",
    "127.4.5.6:1",
    "localhost:50051",
    "localhost",
    "[::1]:1",
    "dns:localhost:1",
    "dns:///localhost:1",
    "ipv4:127.0.0.1:1",
    "unix:/run/router.sock",
    "unix:///run/router.sock",
  ]) {
    test(`may go to ${target}`, async () => {
      await using _ = new RouterClient(target, { token: "mine" });
    });
  }

  for (const target of [
    "router.example:443",
    "10.0.0.1:50051",
    "localhost.example:1",
    "127.0.0.1.example:1",
    "dns://8.8.8.8/localhost:1",
    "127.0.0.1:1,10.0.0.1:1",
    "ipv4:127.0.0.1:1,10.0.0.1:1",
    "[::2]:1",
    "notunix:/x",
  ]) {
    test(`may not go to ${target} without TLS`, async () => {
      assert.throws(() => new RouterClient(target, { token: "secret" }), {
        name: "TypeError",
        message: `RouterClient: a token is never sent over a plain connection beyond this machine: give tls for ${target}, or no token`,
      });
      await using _ = new RouterClient(target, { token: "secret", tls: true });
    });
  }

  test("that cannot be had means that the service is not asked", async () => {
    await using service = await ScriptedService.start();
    const cause = new RangeError("the vault is shut");
    const failing = (): never => {
      throw cause;
    };
    await using router = new RouterClient(service.target, { token: failing });
    await assert.rejects(
      router.decide(),
      (error) =>
        error instanceof Unauthenticated &&
        error.cause === cause &&
        error.message === "there is no token to show: the vault is shut",
    );
    await using odd = new RouterClient(service.target, { token: () => "two\nlines" });
    await assert.rejects(odd.decide(), /other than visible ASCII characters/);
    assert.deepEqual(service.asked, []);
  });

  test("that cannot be had for now loses no report", async () => {
    await using service = await ScriptedService.start();
    let asked = 0;
    const token = (): string => {
      asked += 1;
      if (asked < 3) throw new RangeError("the vault is shut");
      return "mine";
    };
    await using router = new RouterClient(service.target, { token });
    router.reports.put(reportMessage({ traceId: "1", outcome: "accepted" }));
    assert.ok(await router.reports.flush());
    assert.deepEqual([router.reports.outbox.delivered, router.reports.outbox.refused], [1, 0]);
  });

  test("comes out of the time of the call", async () => {
    await using service = await ScriptedService.start();
    const slow = async (): Promise<string> => await sleep(60_000, "late", { ref: false });
    await using router = new RouterClient(service.target, { token: slow });
    await assert.rejects(router.decide({}, { timeoutMs: 50 }), RouterTimeout);
    const caller = new AbortController();
    setTimeout(() => caller.abort(), 20);
    await assert.rejects(router.decide({}, { signal: caller.signal }), { name: "AbortError" });
  });
});

describe("options", () => {
  test("that contradict each other are refused, all at once", () => {
    const channel = new Client("127.0.0.1:1", credentials.createInsecure()).getChannel();
    const wrong: RouterClientOptions = {
      channel,
      tls: true,
      credentials: credentials.createInsecure(),
      token: "two words",
      timeoutMs: -1,
    };
    assert.throws(() => new RouterClient("127.0.0.1:1", wrong), {
      name: "TypeError",
      message:
        "RouterClient: give tls or credentials, not both; a channel has its credentials already: give it without tls and " +
        "credentials; whether a channel is plain cannot be told: give its token by call credentials of its own; a token has " +
        "visible ASCII characters alone; timeoutMs: -1 is no time; give milliseconds, more than 0",
    });
    channel.close();
  });

  test("what is no target is refused, with its cure", () => {
    for (const target of ["", "http://127.0.0.1:50051", "HTTPS://router.example"]) {
      assert.throws(() => new RouterClient(target), {
        name: "TypeError",
        message: `RouterClient: target: ${JSON.stringify(target)} is no address; say host:port or unix:/path, such as 127.0.0.1:50051`,
      });
    }
  });

  test("a channel of one's own stays open", async () => {
    await using service = await ScriptedService.start();
    service.case = { candidates: [] };
    const client = new Client(service.target, credentials.createInsecure());
    const channel = client.getChannel();
    for (let i = 0; i < 2; i += 1) {
      await using router = new RouterClient(undefined, { channel });
      await router.decide();
    }
    assert.equal(service.asked.length, 2);
    client.close();
  });
});
