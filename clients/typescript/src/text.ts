// The beginning of a text.

/** The first characters of a text; one beyond 16 bits counts once, and is never cut in half. */
export function firstCharacters(text: string, count: number): string {
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join("");
}
