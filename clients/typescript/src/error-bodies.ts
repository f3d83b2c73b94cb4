// What a body says went wrong: its error code, what that speaks of, and its status, by failure_classes.json.

import type { FailureClasses } from "./failure-classes.js";
import { firstCharacters } from "./text.js";

/** Characters of a message that are looked at. */
const MESSAGE_READ = 500;

// A code is a word, never a sentence: what a body says at length may quote the request, and no payload is reported.
const CODE = /^[A-Za-z0-9_.-]{1,100}$/;
const HAS_LETTER = /[A-Za-z]/;

/** What an answer says of itself: the subject of its error (empty where not known) and the code to report. */
export interface Told {
  readonly subject: string;
  readonly errorCode: string;
}

/** A body as JSON where it can be read as such; the first of a list, as streams of Google's send it. */
export function parsed(body: unknown): unknown {
  const value = typeof body === "string" ? parsedText(body) : body;
  return Array.isArray(value) && value.length > 0 ? (value as unknown[])[0] : value;
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What stands at the places of a body, such as `error.details[].reason`, in their order. */
export function found(body: unknown, places: readonly string[]): unknown[] {
  return places.flatMap((place) => at(body, place.split(".")));
}

function at(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return value === null || value === undefined ? [] : [value];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const many = name.endsWith("[]");
  const key = many ? name.slice(0, -2) : name;
  const inner: unknown = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  if (!many) return at(inner, rest);
  return Array.isArray(inner) ? inner.flatMap((one) => at(one, rest)) : [];
}

/** The status of an error that came within an answer of another status, as OpenRouter sends it. */
export function toldStatus(body: unknown, places: readonly string[]): number | undefined {
  return found(body, places).find(
    (one): one is number => typeof one === "number" && Number.isInteger(one) && one >= 400 && one <= 599,
  );
}

/** What an answer speaks of: by its code where one is known, else by its message, else only its first code. */
export function told(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  table: FailureClasses,
): Told {
  const written = [...found(body, table.code_places), ...table.code_headers.map((name) => headers[name])];
  const codes = written.map(code).filter((one) => one !== "");
  for (const one of codes) {
    const subject = subjectOf(one, table);
    if (subject !== undefined) return subject;
  }
  const first = codes[0] ?? "";
  for (const one of found(body, table.message_places)) {
    if (typeof one !== "string") continue;
    const row = messageRow(status, letters(firstCharacters(one, MESSAGE_READ)), table);
    if (row !== undefined) return { subject: row.subject, errorCode: row.report || first };
  }
  return { subject: "", errorCode: first };
}

function subjectOf(errorCode: string, table: FailureClasses): Told | undefined {
  const normal = letters(errorCode);
  const stands = (word: string): boolean => normal.includes(word);
  for (const { subject, words, more_words, report } of table.subjects) {
    if (words.some(stands)) return { subject, errorCode };
    if (more_words.some(stands)) return { subject, errorCode: report || errorCode };
  }
  return undefined;
}

function messageRow(status: number, normal: string, table: FailureClasses): FailureClasses["messages"][0] | undefined {
  return table.messages.find(
    (row) =>
      row.statuses.includes(status) &&
      (row.begins.some((words) => normal.startsWith(words)) || row.contains.some((words) => normal.includes(words))),
  );
}

/** A code without a namespace (`a.b#Code`) and what follows it (`Code:http://…`); empty where it is none. */
function code(text: unknown): string {
  if (typeof text !== "string") return "";
  const [name = ""] = text.slice(text.lastIndexOf("#") + 1).split(":", 1);
  const trimmed = name.trim();
  return CODE.test(trimmed) && HAS_LETTER.test(trimmed) ? trimmed : "";
}

/** Letters and digits alone, in small letters: providers write the same thing in many ways. */
function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "");
}
