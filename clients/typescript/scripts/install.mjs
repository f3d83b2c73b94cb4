// Installs what package-lock.json names, unless that is installed already: `npm ci` compiles SQLite where it finds no
// binary of it, which takes minutes. It uses the headers that came with Node, where they did.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const folder = new URL("..", import.meta.url);
const stamp = new URL("node_modules/.installed", folder);
const lock = createHash("sha256")
  .update(readFileSync(new URL("package-lock.json", folder)))
  .digest("hex");
const wanted = `${lock} for node ${process.versions.modules} on ${process.platform} ${process.arch}\n`;
const installed = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";

if (installed !== wanted) {
  const prefix = dirname(dirname(process.execPath));
  const hasHeaders = existsSync(join(prefix, "include", "node", "node_api.h"));
  const env = { ...process.env, JOBS: "max", ...(hasHeaders && { npm_config_nodedir: prefix }) };
  const shell = process.platform === "win32"; // where npm is a batch file
  const { status } = spawnSync("npm", ["ci", "--prefer-offline"], { cwd: folder, env, stdio: "inherit", shell });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, wanted);
}
