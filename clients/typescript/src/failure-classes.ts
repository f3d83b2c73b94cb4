// The table of failure classes, the same file for every client library, and its form.

import table from "./failure_classes.json" with { type: "json" };

/** What comes after a failed attempt. */
export type Then = "same_once" | "next" | "next_else_same" | "next_if_replayable" | "next_larger_context" | "stop";

/** What a failure was. */
export type FailureClass = "transient" | "ambiguous" | "permanent" | "incompatible" | "invalid_response";

/** A row of the table: what it is for, and what it says. */
export interface Row {
  readonly row: string;
  readonly kinds?: readonly string[];
  readonly final?: true;
  readonly subject?: string;
  readonly statuses?: readonly number[];
  readonly report?: string;
  readonly class: FailureClass | "";
  readonly then: Then;
  readonly of: "endpoint" | "request" | "";
  readonly effect: "failure" | "suppressed" | "invalid" | "none";
}

/** The whole table; clients/conformance says how it is read. */
export interface FailureClasses {
  readonly code_places: readonly string[];
  readonly code_headers: readonly string[];
  readonly message_places: readonly string[];
  readonly status_places: readonly string[];
  readonly retry_delay_places: readonly string[];
  readonly subjects: readonly {
    readonly subject: string;
    readonly words: readonly string[];
    readonly more_words: readonly string[];
    readonly report: string;
  }[];
  readonly messages: readonly {
    readonly subject: string;
    readonly report: string;
    readonly statuses: readonly number[];
    readonly begins: readonly string[];
    readonly contains: readonly string[];
  }[];
  readonly grpc: Readonly<Record<string, number>>;
  readonly grpc_kinds: readonly { readonly code: string; readonly sent?: boolean; readonly kind: string }[];
  readonly grpc_numbers: Readonly<Record<string, number>>;
  readonly kind_status: Readonly<Record<string, number>>;
  readonly rows: readonly Row[];
}

/** The table. */
export const FAILURE_CLASSES = table as FailureClasses;
