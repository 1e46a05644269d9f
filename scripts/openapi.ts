import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "./openapi/document.ts";

/**
 * Writes openapi.json from the routes and the client's types from openapi.json; with `--check`,
 * fails if a file is outdated.
 */
const root = join(import.meta.dirname, "..");
const file = join(root, "openapi.json");
const current = `${JSON.stringify(openApiDocument())}\n`;
const isCheck = process.argv.includes("--check");

if (!isCheck) writeFileSync(file, current);
else if (readFileSync(file, "utf8") !== current) {
  console.error("openapi.json differs from the routes: run `npm run openapi`.");
  process.exit(1);
}
const schema = ["run", "--silent", "schema", "-w", "client"];
const { status } = spawnSync("npm", [...schema, ...(isCheck ? ["--", "--check"] : [])], {
  cwd: root,
  stdio: ["ignore", "ignore", "inherit"],
});
if (status !== 0) {
  if (isCheck) console.error("client/src/schema.ts is outdated: run `npm run openapi`.");
  process.exit(1);
}
