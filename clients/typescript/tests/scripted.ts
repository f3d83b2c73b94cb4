// A service on the wire that answers as a vector says, and a clock and chance that stand still until they are told.

import { Server, ServerCredentials, type ServerOptions, type ServiceError, status } from "@grpc/grpc-js";
import type { Candidate, Report, Runtime, StatusName } from "@router-service/client";

import { Candidate as CandidateMessage, Decision, Refusal } from "../dist/generated/router_service/v1/route.js";
import {
  type DecideRequest,
  DecideResponse,
  ExplainResponse,
  type RouterServiceServer,
  RouterServiceService,
} from "../dist/generated/router_service/v1/router_service.js";
import { type Case, camel } from "./vectors.js";

/** The trace id of every decision. */
export const TRACE_ID = "0".repeat(32);

/** What Decide does. */
export interface DecideCase {
  readonly takes_ms?: number;
  readonly error?: StatusName;
  readonly refusal?: { readonly code: string; readonly http_status: number; readonly retry_after_ms: number };
  readonly candidates?: readonly Case[];
}

/** Time in whole milliseconds since the run began, and the random numbers that are left. */
export class World implements Runtime {
  goneMs = 0;
  readonly steps: Case[] = [];
  readonly draws: number[];
  readonly start: Date;

  constructor(draws: readonly number[] = [], start: Date = new Date()) {
    this.draws = [...draws];
    this.start = start;
  }

  readonly clock = (): number => 1_000_000 + this.goneMs;

  readonly now = (): Date => new Date(this.start.getTime() + this.goneMs);

  readonly random = (): number => {
    const draw = this.draws.shift();
    if (draw === undefined) throw new Error("chance was asked once more than the vector has it");
    return draw;
  };

  readonly sleep = async (ms: number): Promise<void> => {
    this.steps.push({ wait_ms: ms });
    this.goneMs += ms;
    await Promise.resolve();
  };
}

/** Answers Decide by `case`, and keeps the reports. `answers` are the statuses of the next reports. */
export class ScriptedService implements AsyncDisposable {
  case: DecideCase = {};
  world = new World();
  reports: Report[] = [];
  /** Whether it takes nothing of a stream. */
  isDeaf = false;
  /** Whether it never answers Decide. */
  isSilent = false;
  readonly answers: StatusName[] = [];
  readonly asked: DecideRequest[] = [];
  readonly authorizations: string[] = [];
  readonly #server: Server;
  #port = 0;

  private constructor(options: ServerOptions) {
    this.#server = new Server(options);
    this.#server.addService(RouterServiceService, this.#methods());
  }

  /** The service, on a port of its own where no other address is told. */
  static async start(
    credentials: ServerCredentials = ServerCredentials.createInsecure(),
    address = "127.0.0.1:0",
    options: ServerOptions = {},
  ): Promise<ScriptedService> {
    const service = new ScriptedService(options);
    service.#port = await new Promise((resolve, reject) => {
      service.#server.bindAsync(address, credentials, (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
    return service;
  }

  /** Where it is. */
  get target(): string {
    return `127.0.0.1:${String(this.#port)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
    await Promise.resolve();
  }

  #methods(): RouterServiceServer {
    const unimplemented = (): never => {
      throw new Error("the tests do not ask this here");
    };
    return {
      decide: ({ request, metadata }, answer) => {
        this.asked.push(request);
        this.authorizations.push(...metadata.get("authorization").map(String));
        this.world.goneMs += this.case.takes_ms ?? 0;
        if (this.isSilent) return;
        if (this.case.error === undefined) answer(null, DecideResponse.fromPartial(this.#decided()));
        else answer(failure(this.case.error));
      },
      explain: (_call, answer) => {
        answer(null, ExplainResponse.fromPartial({}));
      },
      report: ({ request }, answer) => {
        const code = this.answers.shift() ?? "OK";
        if (code !== "OK") {
          answer(failure(code));
          return;
        }
        if (request.report !== undefined) this.reports.push(request.report);
        answer(null, { accepted: 1, duplicates: 0 });
      },
      decideStream: (call) => {
        if (this.isDeaf) return;
        call.on("data", (one: { decide?: DecideRequest }) => {
          call.write({ requestId: one.decide?.requestId ?? "" });
        });
        call.on("end", () => {
          call.end();
        });
      },
      reportStream: unimplemented,
      getTrace: unimplemented,
      listTraces: unimplemented,
    };
  }

  #decided(): Partial<DecideResponse> {
    const { refusal, candidates = [] } = this.case;
    if (refusal === undefined) {
      const all = candidates.map((one) => CandidateMessage.fromPartial(camel<Partial<Candidate>>(one)));
      return { decision: Decision.fromPartial({ traceId: TRACE_ID, candidates: all }) };
    }
    const { code, http_status: httpStatus, retry_after_ms: ms } = refusal;
    const retryAfter = { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6 };
    return { refusal: Refusal.fromPartial({ code, httpStatus, retryAfter }) };
  }
}

function failure(code: StatusName): Partial<ServiceError> {
  return { code: status[code], details: "as the test says" };
}
