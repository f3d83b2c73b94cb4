// A backend on loopback that does wrong whatever the first part of its path names, over plain sockets.

import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";

/** A Gemini-like and OpenAI-like error with a code that means something. */
export const LIMITED = { error: { code: "rate_limit_exceeded", message: "Slow down." } };

const GOOD = '{"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}]}';

function http(status: string, body: string, headers = "", length = Buffer.byteLength(body)): string {
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`;
  return `${head}Connection: close\r\n${headers}\r\n${body}`;
}

function events(...data: string[]): string {
  const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
  return head + data.map((one) => `${one}\n\n`).join("");
}

const ANSWERS: Readonly<Record<string, string>> = {
  good: http("200 OK", GOOD),
  limited: http("429 Too Many Requests", JSON.stringify(LIMITED), "Retry-After: 30\r\n"),
  // As Anthropic has it: the whole body is an envelope of its own.
  overloaded: http("529 Overloaded", '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
  ill: http("503 Service Unavailable", "<html>"),
  truncated: http("200 OK", GOOD.slice(0, 6), "", GOOD.length),
  malformed: http("200 OK", '{"choices": '),
  nonsense: "what?\r\n\r\n",
  "openai-stream": events(
    'data: {"choices":[{"delta":{"content":"Ye"}}]}',
    'data: {"error":{"code":503,"type":"server_error","message":"The model stumbled."}}',
  ),
  "anthropic-stream": events(
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[],"usage":{}}}',
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  ),
};

/** The backend. */
export class Backend implements AsyncDisposable {
  /** What it was asked, by the first part of each path. */
  readonly asked: string[] = [];
  #listening: Awaited<ReturnType<typeof listening>> | undefined;

  /** The backend, on a port of its own. */
  static async start(): Promise<Backend> {
    const backend = new Backend();
    backend.#listening = await listening(createServer((socket) => backend.#serve(socket)));
    return backend;
  }

  /** The address that does this wrong. */
  at(fault: string): string {
    return `http://127.0.0.1:${this.#listening?.port ?? 0}/${fault}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listening?.[Symbol.asyncDispose]();
  }

  #serve(socket: Socket): void {
    socket.on("error", () => undefined);
    socket.once("data", (data) => {
      socket.on("data", () => undefined);
      const fault = data.toString("latin1").split(" ")[1]?.split("/")[1] ?? "";
      this.asked.push(fault);
      if (fault === "reset" || fault === "") socket.resetAndDestroy();
      else if (fault !== "hang") socket.end(ANSWERS[fault] ?? "");
    });
  }
}

/** A server that listens on a port of its own, and closes all connections at the end. */
export async function listening(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket.on("close", () => open.delete(socket)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const one of open) one.destroy();
      await once(server, "close");
    },
  };
}

/** A URL at which nobody listens. */
export async function refusing(): Promise<string> {
  const server = await listening(createServer());
  await server[Symbol.asyncDispose]();
  return `http://127.0.0.1:${server.port}`;
}
