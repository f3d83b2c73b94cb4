// The key of a side effect, the same for the same call of a tool: canonical JSON (RFC 8785), hashed.

import { createHash } from "node:crypto";

/**
 * SHA-256 (64 hex digits) of operation id, tool name and the canonical arguments, separated by zero bytes.
 *
 * @param operationId - the caller's own id of the operation, the same when it is tried again
 * @param toolName - the tool
 * @param args - what `JSON.parse` makes of the arguments: objects, arrays, strings, numbers, booleans, null
 * @throws TypeError where a part has a zero character, or the arguments have no canonical form
 */
export function executionKey(operationId: string, toolName: string, args: unknown): string {
  const parts = [operationId, toolName, canonicalJson(args)];
  if (parts.some((part) => part.includes("\0"))) {
    throw new TypeError("operation id and tool name cannot have a zero character, which separates the parts");
  }
  if (!parts.every((part) => part.isWellFormed())) {
    throw new TypeError("operation id and tool name cannot have half a surrogate pair, which has no bytes");
  }
  return createHash("sha256").update(parts.join("\0"), "utf8").digest("hex");
}

/**
 * A value as RFC 8785 writes it.
 *
 * @throws TypeError for what it cannot write alike in every language
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return text(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${Array.from(value as unknown[], canonicalJson).join(",")}]`;
  if (isPlainObject(value)) {
    // Sorted by UTF-16 code units, as RFC 8785 has it and JavaScript does.
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${text(name)}:${canonicalJson(value[name])}`).join(",")}}`;
  }
  throw new TypeError(`${described(value)} has no canonical form; use what JSON.parse returns`);
}

/** Whether it is an object as JSON.parse makes them, and not of a class: a Date or a Map is written in no one way. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError("half a surrogate pair has no canonical form");
  return JSON.stringify(value);
}

function described(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "object" ? (value?.constructor.name ?? "null") : typeof value;
}
