// A value as JSON text that says all of it.

/**
 * The value as JSON; undefined at the top is null. What JSON.stringify would leave out or change in silence (a function, a
 * symbol, a number that is none, a Map) is refused.
 *
 * @throws TypeError
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value ?? null, (_name, one: unknown) => {
    const isLost =
      typeof one === "function" ||
      typeof one === "symbol" ||
      (typeof one === "number" && !Number.isFinite(one)) ||
      one instanceof Map ||
      one instanceof Set;
    if (isLost) throw new TypeError(`${typeof one === "object" ? one.constructor.name : String(one)} is no JSON`);
    return one;
  });
}
