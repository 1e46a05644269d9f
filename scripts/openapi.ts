import { readFileSync, writeFileSync } from "node:fs";
import { openApiDocument } from "../src/app.ts";

/** Writes openapi.json from the routes; with `--check` says whether it is current. */
const file = new URL("../openapi.json", import.meta.url);
const current = `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== current) {
    console.error("openapi.json is not what the routes say: run `npm run openapi`.");
    process.exit(1);
  }
} else writeFileSync(file, current);
