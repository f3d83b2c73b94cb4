// Installs what package-lock.json names, unless that is installed already: `npm ci` compiles SQLite where it finds no
// binary of it, which takes minutes.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const folder = new URL("..", import.meta.url);
const stamp = new URL("node_modules/.installed", folder);
const lock = createHash("sha256")
  .update(readFileSync(new URL("package-lock.json", folder)))
  .digest("hex");
const wanted = `${lock} for node ${process.versions.modules} on ${process.platform} ${process.arch}\n`;

function installed() {
  try {
    return readFileSync(stamp, "utf8");
  } catch {
    return "";
  }
}

if (installed() !== wanted) {
  const env = { ...process.env, JOBS: "max" };
  const { status } = spawnSync("npm", ["ci", "--prefer-offline"], { cwd: folder, env, stdio: "inherit", shell: true });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, wanted);
}
