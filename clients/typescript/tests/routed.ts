// A client of a scripted service that lists two endpoints.

import assert from "node:assert/strict";

import { RouterClient } from "@router-service/client";

import { ScriptedService } from "./scripted.js";

const TWO = {
  candidates: [
    { endpoint_id: "a", need_ms: 1 },
    { endpoint_id: "b", need_ms: 1 },
  ],
};

/** Both. */
export class Routed implements AsyncDisposable {
  readonly service: ScriptedService;
  readonly router: RouterClient;

  private constructor(service: ScriptedService) {
    this.service = service;
    this.router = new RouterClient(service.target);
  }

  /** Both, connected, so that the time of a run is not spent on that. */
  static async start(): Promise<Routed> {
    const routed = new Routed(await ScriptedService.start());
    routed.service.case = TWO;
    await routed.router.explain();
    return routed;
  }

  /** Closes the client, and tells of the one report its outcome, and endpoint, class and status of each attempt. */
  async told(): Promise<unknown> {
    await this.router.close();
    assert.equal(this.service.reports.length, 1);
    const [report] = this.service.reports;
    return [report?.outcome, report?.attempts.map((one) => [one.endpointId, one.failureClass, one.statusCode])];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.router.close();
    await this.service[Symbol.asyncDispose]();
  }
}
