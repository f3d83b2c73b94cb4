// The vectors of clients/conformance, and their names in the form of this language.

import { readFileSync } from "node:fs";

/** The folder of the vectors. */
export const CONFORMANCE = new URL("../../conformance/", import.meta.url);

/** A JSON object of a vector. */
export type Case = Readonly<Record<string, unknown>>;

/** A file of vectors. */
export function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, CONFORMANCE), "utf8")) as T;
}

/** The fields of an object under the names that they have here; null is "not told". */
export function camel<T>(given: Case): T {
  const named = Object.entries(given)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()), value]);
  return Object.fromEntries(named) as T;
}

/** The fields of an object under the names that they have in vectors; what is not told is left out. */
export function snake(given: object): Case {
  const named = Object.entries(given)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value as unknown]);
  return Object.fromEntries(named) as Case;
}
