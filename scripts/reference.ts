import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Puts what GET /docs is drawn by where assets are served from; `npm ci` runs it. */
const from = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
const to = join(import.meta.dirname, "../console/console/swagger-ui");
const FILES = [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE",
];

mkdirSync(to, { recursive: true });
for (const file of FILES) copyFileSync(join(from, file), join(to, file));
