// Removes what tsc made of sources that are gone: it would be published, or tested, for ever.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("..", import.meta.url));
const MADE = { dist: "src", "dist-tests": "tests", "dist-examples": "examples" };

for (const [made, source] of Object.entries(MADE)) {
  const files = existsSync(join(folder, made)) ? readdirSync(join(folder, made), { recursive: true }) : [];
  for (const file of files) {
    const [stem, suffix] = file.split(/(\.d\.ts|\.js)(?:\.map)?$/);
    if (suffix && !existsSync(join(folder, source, `${stem}.ts`))) rmSync(join(folder, made, file), { force: true });
  }
}
