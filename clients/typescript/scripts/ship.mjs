// Puts beside what tsc makes the rest of what is published: the table as it is, since tsc would write it anew, and the
// licence.

import { copyFileSync } from "node:fs";

const folder = new URL("..", import.meta.url);
copyFileSync(new URL("src/failure_classes.json", folder), new URL("dist/failure_classes.json", folder));
copyFileSync(new URL("../../LICENSE", folder), new URL("LICENSE", folder));
