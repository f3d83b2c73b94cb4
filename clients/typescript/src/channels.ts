// How a client reaches the service: where, with which credentials, and what of gRPC's own is turned off.

import { type ChannelCredentials, type ChannelInterface, type ChannelOptions, credentials } from "@grpc/grpc-js";

/** Where a service listens that was started without being told where. */
export const DEFAULT_TARGET = "127.0.0.1:50051";
/** How long a call may take where nothing else is said, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 5000;

/** Certificates for TLS, in PEM; what is left out is the system's. */
export interface TlsFiles {
  /** The authorities that the service's certificate may come from. */
  readonly rootCerts?: Buffer | undefined;
  /** The client's own key, where the service asks for a certificate. */
  readonly privateKey?: Buffer | undefined;
  /** The client's own certificate, and those that vouch for it. */
  readonly certChain?: Buffer | undefined;
}

/** A bearer token, or what fetches one: it is asked before each call, so it should remember. */
export type Token = string | (() => string | Promise<string>);

/** How a client reaches the service, and what it does by itself. */
export interface RouterClientOptions {
  /** Milliseconds that a call may take, 5000 by default; a call's own `timeoutMs` goes before it. */
  readonly timeoutMs?: number | undefined;
  /** TLS with the system's authorities (`true`) or with these files; without it the connection is plain. */
  readonly tls?: boolean | TlsFiles | undefined;
  /** Credentials of `@grpc/grpc-js` in the place of `tls`, of the copy that this package uses. */
  readonly credentials?: ChannelCredentials | undefined;
  /** Sent as `authorization: Bearer …`; never over a plain connection that leaves this machine. */
  readonly token?: Token | undefined;
  /** A channel to use in the place of target and credentials; closing it stays with the caller. */
  readonly channel?: ChannelInterface | undefined;
  /** Options of the channel that go before the client's own. */
  readonly channelOptions?: ChannelOptions | undefined;
  /** Told of reports that were dropped, refused or lost; by default a warning of the process. */
  readonly warn?: ((message: string) => void) | undefined;
}

// An explanation of 5,000 endpoints has several MiB, and gRPC's own limit is 4. A router stands beside its callers: a
// proxy of the environment, meant for the way out, is not asked, and a router that comes back is found within seconds.
// Nothing beneath the failover loop tries again.
const OPTIONS: ChannelOptions = {
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2000,
};

// What never leaves this machine: Unix sockets and loopback, in the forms that gRPC takes.
const LOCAL = /^(unix(-abstract)?:|((dns|ipv4|ipv6):(\/\/\/)?)?(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)(:\d+)?$)/;
const URL_OF_HTTP = /^https?:\/\//i;
const TOKEN = /^[\u0021-\u007e]+$/;

/** What opens a channel. */
export interface Opening {
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/** Checks the options as a whole, and says how to open the channel. Throws TypeError with every problem. */
export function opening(target: string, options: RouterClientOptions): Opening {
  const { tls = false, credentials: own, channel, channelOptions, token, timeoutMs } = options;
  const isPlain = tls === false && own?._isSecure() !== true;
  const problems = [
    ...(channel === undefined && (target === "" || URL_OF_HTTP.test(target))
      ? [`target: ${JSON.stringify(target)} is no address; say host:port or unix:/path, such as ${DEFAULT_TARGET}`]
      : []),
    ...(own !== undefined && tls !== false ? ["give tls or credentials, not both"] : []),
    ...(channel !== undefined && (own !== undefined || tls !== false)
      ? ["a channel has its credentials already: give it without tls and credentials"]
      : []),
    ...(token !== undefined && channel === undefined && isPlain && !LOCAL.test(target)
      ? [`a token is never sent over a plain connection beyond this machine: give tls for ${target}, or no token`]
      : []),
    ...(token !== undefined && channel !== undefined
      ? ["whether a channel is plain cannot be told: give its token by call credentials of its own"]
      : []),
    ...(typeof token === "string" && !TOKEN.test(token) ? ["a token has visible ASCII characters alone"] : []),
    ...(timeoutMs !== undefined && !isTimeout(timeoutMs) ? [`timeoutMs: ${badTimeout(timeoutMs)}`] : []),
  ];
  if (problems.length > 0) throw new TypeError(`RouterClient: ${problems.join("; ")}`);
  return {
    credentials: own ?? (tls === false ? credentials.createInsecure() : secure(tls === true ? {} : tls)),
    options: { ...OPTIONS, ...channelOptions, ...(channel && { channelOverride: channel }) },
  };
}

function secure({ rootCerts, privateKey, certChain }: TlsFiles): ChannelCredentials {
  return credentials.createSsl(rootCerts ?? null, privateKey ?? null, certChain ?? null);
}

/** Whether it is a time that a call may take. */
export function isTimeout(ms: number): boolean {
  return Number.isFinite(ms) && ms > 0;
}

/** What is wrong with a time that is none. */
export function badTimeout(ms: number): string {
  return `${String(ms)} is no time; give milliseconds, more than 0`;
}

/** The token of a call, as metadata has it. Throws TypeError for one that no header can hold. */
export async function authorization(token: Token): Promise<string> {
  const told = typeof token === "string" ? token : await token();
  if (!TOKEN.test(told)) throw new TypeError("the token has other than visible ASCII characters");
  return `Bearer ${told}`;
}
