// The Python that the service and its Python client are installed in.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = new URL("../../../", import.meta.url);

/** The interpreter. */
export const PYTHON = process.env["PYTHON"] ?? fileURLToPath(new URL(".venv/bin/python", ROOT));

/** Why there is none, to skip a test with; false where there is one. In CI there is no such excuse. */
export const NO_PYTHON =
  existsSync(PYTHON) || process.env["CI"] !== undefined
    ? false
    : "the service is not installed here: make test-clients ARGS=typescript";
