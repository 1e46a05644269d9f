import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../src/app.ts";

/** Writes openapi.json from the routes; with `--check`, fails if the file is outdated. */
const file = join(import.meta.dirname, "../openapi.json");
const current = `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== current) {
    console.error("openapi.json differs from the routes: run `npm run openapi`.");
    process.exit(1);
  }
} else writeFileSync(file, current);
