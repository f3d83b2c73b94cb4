// What is published: which files, that it can be loaded as it is in every way, and that all of it is documented.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import ts from "typescript";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly peerDependenciesMeta: Record<string, { optional: boolean }>;
  readonly exports: Record<string, string | { types: string; default: string }>;
}
const MANIFEST = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as Manifest;

describe("the package", () => {
  const app = mkdtempSync(join(tmpdir(), "app-"));
  const modules = join(app, "node_modules");
  let files: string[];

  before(async () => {
    const options = ["pack", "--ignore-scripts", "--json", "--pack-destination", app];
    const { stdout } = await run("npm", options, { cwd: PACKAGE });
    const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
    files = packed?.files.map((one) => one.path) ?? [];
    const folder = join(modules, MANIFEST.name);
    mkdirSync(folder, { recursive: true });
    // npm 8 tells the name of the archive with its slash.
    const archive = readdirSync(app).find((one) => one.endsWith(".tgz")) ?? "";
    await run("tar", ["-xzf", join(app, archive), "-C", folder, "--strip-components", "1"]);
    // Of what is installed here, an app that installs the package has its dependencies and not its optional peers.
    for (const scope of ["@grpc", "@bufbuild"]) symlinkSync(join(PACKAGE, "node_modules", scope), join(modules, scope));
  });

  test("has what it needs, and nothing else", () => {
    for (const path of ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "src/index.ts"]) {
      assert.ok(files.includes(path), path);
    }
    const others = files.filter((one) => !/^(dist|src)\/|^(LICENSE|README\.md|package\.json)$/.test(one));
    assert.deepEqual(others, []);
    assert.deepEqual(
      files.filter((one) => one.endsWith(".tsbuildinfo")),
      [],
    );
  });

  test("is loaded by import and by require, without its optional peers", async () => {
    const told = "const { RouterClient } = m; console.log(typeof RouterClient, typeof l.Ledger)";
    writeFileSync(
      join(app, "app.mjs"),
      `import * as m from "${MANIFEST.name}"; import * as l from "${MANIFEST.name}/ledger"; ${told}`,
    );
    writeFileSync(
      join(app, "app.cjs"),
      `const m = require("${MANIFEST.name}"), l = require("${MANIFEST.name}/ledger"); ${told}`,
    );
    for (const name of ["app.mjs", "app.cjs"]) {
      const { stdout } = await run(process.execPath, [name], { cwd: app });
      assert.equal(stdout, "function function\n", name);
    }
  });

  test("declares what it imports", () => {
    const declared = { ...MANIFEST.dependencies, ...MANIFEST.peerDependencies };
    const scripts = files.filter((one) => one.startsWith("dist/") && one.endsWith(".js"));
    assert.ok(scripts.length > 20);
    for (const path of scripts) {
      const text = readFileSync(join(modules, MANIFEST.name, path), "utf8");
      for (const [, name = ""] of text.matchAll(/\bfrom "([^".][^"]*)"/g)) {
        const root = name
          .split("/")
          .slice(0, name.startsWith("@") ? 2 : 1)
          .join("/");
        assert.ok(name.startsWith("node:") || root in declared, `${path} imports ${name}`);
      }
    }
    const optional = Object.entries(MANIFEST.peerDependenciesMeta).filter(([, { optional: is }]) => is);
    assert.deepEqual(
      optional.map(([name]) => name),
      Object.keys(MANIFEST.peerDependencies),
    );
  });

  test("is documented as a whole", () => {
    const entries = Object.values(MANIFEST.exports).flatMap((one) => (typeof one === "string" ? [] : [one.types]));
    const paths = entries.map((one) => join(PACKAGE, one));
    const program = ts.createProgram(paths, { module: ts.ModuleKind.NodeNext, types: ["node"], skipLibCheck: true });
    const checker = program.getTypeChecker();
    const missing: string[] = [];
    const look = (symbol: ts.Symbol, name: string): void => {
      const told = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      if (told.getDocumentationComment(checker).length === 0) missing.push(name);
      const isOurs = told.declarations?.some((one) => one.getSourceFile().fileName.startsWith(join(PACKAGE, "dist")));
      const members = isOurs === true ? [...(told.members?.values() ?? [])] : [];
      for (const one of members) if (isPublic(one)) look(one, `${name}.${one.name}`);
    };
    for (const path of paths) {
      const file = program.getSourceFile(path);
      const module = file && checker.getSymbolAtLocation(file);
      assert.ok(module !== undefined, path);
      for (const one of checker.getExportsOfModule(module)) look(one, one.name);
    }
    assert.deepEqual(missing, []);
  });
});

/** Whether it is a member that users see, but for the `name` of errors. */
function isPublic(symbol: ts.Symbol): boolean {
  const [declaration] = symbol.declarations ?? [];
  if (declaration === undefined || symbol.name.startsWith("__")) return false;
  if (symbol.getJsDocTags().some((one) => one.name === "internal")) return false;
  const isHidden = ts.isPrivateIdentifier((declaration as ts.NamedDeclaration).name ?? declaration);
  const isMember = ts.isPropertyDeclaration(declaration) || ts.isMethodDeclaration(declaration);
  const isSignature = ts.isPropertySignature(declaration) || ts.isMethodSignature(declaration);
  return !isHidden && (isMember || isSignature) && symbol.name !== "name";
}
