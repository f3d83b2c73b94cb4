// A real service, started as a person starts it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { PYTHON } from "./python.js";

/** A service, and where it listens. */
export interface Serving extends AsyncDisposable {
  readonly target: string;
}

/** A service with the example catalogue and these arguments. */
export async function serving(...args: readonly string[]): Promise<Serving> {
  const environment = Object.entries(process.env).filter(([name]) => !name.startsWith("ROUTER_SERVICE_"));
  const service = spawn(PYTHON, ["-m", "router_service.cli", "serve", ...args], {
    env: Object.fromEntries(environment),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: string[] = [];
  for await (const line of createInterface(service.stderr)) {
    said.push(line);
    const [, target] = /listening on (\S+)/.exec(line) ?? [];
    if (target === undefined) continue;
    service.stderr.resume();
    return {
      target,
      [Symbol.asyncDispose]: async () => {
        service.kill();
        await once(service, "exit");
      },
    };
  }
  throw new Error(`the service did not start; it said: ${said.join("\n")}`);
}

/** A folder that the system cleans up some time. */
export function folder(): string {
  return mkdtempSync(join(tmpdir(), "router-service-"));
}
