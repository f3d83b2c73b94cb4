// What `npm test` prints: each failure in full, what was skipped and why, and the counts at the end.

import { inspect } from "node:util";

export default async function* report(events) {
  for await (const { type, data } of events) {
    // A suite fails by its tests, which have told already.
    const isOwn = data.details?.error?.failureType !== "subtestsFailed";
    if (type === "test:fail" && isOwn) yield `not ok - ${data.name} (${data.file})\n${inspect(data.details.error)}\n`;
    if (type === "test:pass" && data.skip !== undefined) yield `skipped - ${data.name}: ${data.skip}\n`;
    if (type === "test:stderr") yield data.message;
    if (type === "test:diagnostic" && data.nesting === 0) yield `# ${data.message}\n`;
  }
}
