// A Redis or Valkey of one's own on loopback.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

import { type RedisClientType, createClient } from "redis";

import { refusing } from "./faults.js";

const PROGRAM = ["redis-server", "valkey-server"].find((one) => spawnSync(one, ["--version"]).status === 0);

/** Why there is none, to skip a test with; false where there is one. In CI there is no such excuse. */
export const NO_REDIS =
  PROGRAM === undefined && process.env["CI"] === undefined ? "there is no redis-server or valkey-server here" : false;

/** The server. */
export class RedisServer implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** The server, on a port of its own, which answers. */
  static async start(): Promise<RedisServer> {
    const url = new URL(await refusing());
    const options = ["--port", url.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    const process = spawn(PROGRAM ?? "redis-server", options, { stdio: "ignore" });
    await once(process, "spawn");
    const server = new RedisServer(`redis://${url.host}`, process);
    const client = await server.client();
    await client.close();
    return server;
  }

  /** A client that is connected. */
  async client(): Promise<RedisClientType> {
    const client: RedisClientType = createClient({ url: this.url });
    client.on("error", () => undefined); // until it listens
    await client.connect();
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await once(this.#process, "exit");
  }
}
