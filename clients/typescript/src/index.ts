/**
 * Asks a router-service which LLM endpoint a request may go to, and in which order to fall back.
 *
 * A refusal is an answer (`answer.refusal`); what cannot be answered is thrown. There is no default endpoint: where the
 * service gives no answer, the request may go nowhere.
 *
 * @packageDocumentation
 */

export { Try, type AttemptFacts } from "./attempts.js";
export type { CallOptions } from "./calls.js";
export type { RouterClientOptions, TlsFiles, Token } from "./channels.js";
export { classify, type Verdict } from "./classification.js";
export { RouterClient, type DecideItem, type DecideOptions, type ExplainOptions, type ListOptions } from "./client.js";
export type { FieldViolation } from "./error-details.js";
export {
  EndpointNotListed,
  InvalidRequest,
  LimitExceeded,
  PermissionDenied,
  PolicyNotFound,
  RouterError,
  RouterTimeout,
  RouterUnavailable,
  TraceNotFound,
  Unauthenticated,
  WorkloadNotFound,
  type RouterErrorFacts,
  type StatusName,
} from "./errors.js";
export { canonicalJson, executionKey } from "./execution-key.js";
export type { LoopOutcome } from "./failover.js";
export type { FailureClass, Then } from "./failure-classes.js";
export type {
  ServedEndpoint,
  StatusByHand,
  WatchCatalogResponse,
} from "./generated/router_service/v1/catalog_service.js";
export type { Endpoint } from "./generated/router_service/v1/endpoint.js";
export type { ItemError } from "./generated/router_service/v1/error_reason.js";
export type { EndpointExplanation, Explanation } from "./generated/router_service/v1/explanation.js";
export type { Policy } from "./generated/router_service/v1/policy.js";
export type { Attempt, Report } from "./generated/router_service/v1/report.js";
export type { Candidate, Decision, Refusal, RouteRequest, Term, Terms } from "./generated/router_service/v1/route.js";
export type {
  DecideResponse,
  DecideStreamResponse,
  ExplainResponse,
  RejectedReport,
  ReportResponse,
  ReportStreamResponse,
} from "./generated/router_service/v1/router_service.js";
export type { Trace } from "./generated/router_service/v1/trace.js";
export type { Workload } from "./generated/router_service/v1/workload.js";
export {
  candidates,
  retryAfterOf,
  type AttemptFields,
  type DecideFields,
  type Fields,
  type InlineFields,
  type ReportFields,
  type RouteFields,
  type TraceFilter,
} from "./messages.js";
export { seenOfError, seenOfResponse, type ResponseLike } from "./observed.js";
export type { ReportQueue } from "./report-queue.js";
export { ReportsLost, type Outbox } from "./reports.js";
export type { Accept, Call, RunOptions } from "./running.js";
export { NotAnswered, type Outcome, type Run } from "./runs.js";
export type { Runtime } from "./runtime.js";
export { CallFailed, SEEN_KINDS, type HeadersLike, type Seen, type SeenKind } from "./seen.js";
