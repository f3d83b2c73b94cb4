// A Redis or Valkey of one's own on loopback.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

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
    for (let i = 0; i < 500 && !(await isListening(Number(url.port))); i += 1) await sleep(20);
    return new RedisServer(`redis://${url.host}`, process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await once(this.#process, "exit");
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
