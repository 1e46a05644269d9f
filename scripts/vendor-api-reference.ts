import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Copies Swagger UI, which GET /docs uses, to the static assets. Run by `npm ci`. */
const packageRoot = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
const target = join(import.meta.dirname, "../console/console/swagger-ui");
const FILES = [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE",
];

mkdirSync(target, { recursive: true });
for (const file of FILES) copyFileSync(join(packageRoot, file), join(target, file));
