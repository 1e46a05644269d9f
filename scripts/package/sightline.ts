#!/usr/bin/env node
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const MIN_NODE = 22;

const USAGE = `Usage: npx sightline path… [--keep] [--models]   make videos and images searchable
       npx sightline serve                       run the service until Ctrl-C
       npx sightline models list                 list models that find more
       npx sightline help                        list the commands of the client
`;

/** Scripts of the project that are commands. */
const SCRIPTS: Record<string, () => Promise<unknown>> = {
  serve: () => import("../dev.ts"),
  models: () => import("../models.ts"),
};

/**
 * Sets where data is stored, unless the user did: not in the package, which npm replaces. It has a
 * migrated database, which the first start copies.
 */
function setFolders(): void {
  const { env } = process;
  const folder = join(env["XDG_DATA_HOME"] || join(homedir(), ".local/share"), "sightline");
  env["STATE_DIR"] ||= folder;
  env["MODELS_DIR"] ||= join(folder, "models");
  env["MIGRATED_DATABASES"] ||= join(import.meta.dirname, "../../local/databases");
}

/** Tells paths and options of the demo from commands of the client. */
function isForDemo(word: string): boolean {
  if (word.startsWith("-")) return word !== "--version";
  return /[./\\]/.test(word) || existsSync(word);
}

async function main([first]: string[]): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < MIN_NODE) {
    throw new Error(`Sightline needs Node ${MIN_NODE} or later; this is ${process.version}.`);
  }
  setFolders();
  const script = SCRIPTS[first ?? ""];
  if (script !== undefined) {
    process.argv.splice(2, 1);
    await script();
  } else if (first === undefined || first === "--help" || first === "-h") {
    process.stdout.write(`${USAGE}\nData is stored in ${process.env["STATE_DIR"]}.\n`);
  } else if (isForDemo(first)) {
    await import("../demo.ts");
  } else {
    const client = new URL("../../node_modules/sightline/bin/sightline.js", import.meta.url);
    await import(client.href);
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
