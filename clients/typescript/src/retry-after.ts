// How long an endpoint asks to be left alone: Retry-After in all its forms, in milliseconds.

/** The service obeys none beyond a day, and a wrong date must not last for ever. */
const MAX_MS = 24 * 3600 * 1000;

const NUMBER = /^([0-9]{1,12})(?:\.([0-9]{1,12}))?$/;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})`;
// An HTTP date as it is written now, and the two forms that a recipient has to read as well (RFC 9110, 5.6.7).
const DATES = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[\d ]\d) ${TIME} (?<year>\d{4})$`),
];

/**
 * What was asked for, rounded up to whole milliseconds and held to a day; undefined where nothing can be read.
 *
 * @param headers - the answer's, under small names: `retry-after-ms` goes first, then `retry-after`, in seconds or as an
 *   HTTP date as seen from `now`
 * @param delay - what is looked at where they say nothing: the retryDelay of a google.rpc.RetryInfo (`34.5s`)
 * @param now - the time of day
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, delay: unknown, now: Date): number | undefined {
  const written = headers["retry-after"] ?? "";
  const asked =
    milliseconds(headers["retry-after-ms"] ?? "", 1n) ??
    milliseconds(written, 1000n) ??
    until(written, now) ??
    (typeof delay === "string" && delay.endsWith("s") ? milliseconds(delay.slice(0, -1), 1000n) : undefined);
  return asked === undefined ? undefined : Math.min(asked, MAX_MS);
}

/** A number of `unit` milliseconds each, exactly rounded up: 0.0004 s are one millisecond. */
function milliseconds(text: string, unit: bigint): number | undefined {
  const [, whole, part = ""] = NUMBER.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const scale = 10n ** BigInt(part.length);
  return Number((BigInt(whole + part) * unit + scale - 1n) / scale);
}

function until(text: string, now: Date): number | undefined {
  const found = DATES.map((form) => form.exec(text.trim())?.groups).find((groups) => groups !== undefined);
  const month = MONTHS.indexOf(found?.["month"] ?? "");
  if (found === undefined || month < 0) return undefined;
  const [day, hour, minute, second] = ["day", "hour", "minute", "second"].map((name) => Number(found[name]));
  const moment = new Date(Date.UTC(fullYear(found["year"] ?? "", now), month, day, hour, minute, second));
  // What there is not, as November the 31st, Date makes something else of.
  const isOther = moment.getUTCDate() !== day || moment.getUTCHours() !== hour || moment.getUTCSeconds() !== second;
  return isOther ? undefined : Math.max(0, moment.getTime() - now.getTime());
}

/** A year of two digits is of this century, unless that is more than 50 years ahead (RFC 9110, 5.6.7). */
function fullYear(digits: string, now: Date): number {
  if (digits.length === 4) return Number(digits);
  const year = now.getUTCFullYear();
  const near = year - (year % 100) + Number(digits);
  return near > year + 50 ? near - 100 : near;
}
