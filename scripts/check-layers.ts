import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { looseIds } from "./scoping.ts";

/**
 * Which part of `src/` may import which: a part imports from its own floor's parts only itself, and
 * from any floor below. Also: no file over 300 lines, nobody imports `local/` or `durable/`, and
 * ids are what `scripts/scoping.ts` says.
 */
const FLOORS = [
  [
    "at-once",
    "config",
    "errors",
    "ids",
    "keys",
    "log",
    "prompts",
    "renewing",
    "timings",
    "types",
    "unspaced",
  ],
  ["media", "store", "models", "fetching", "queues/messages"],
  ["platforms"],
  ["ingest", "search"],
  ["answer", "care", "durable"],
  ["queues", "routes"],
  ["app", "index"],
];
const MAX_LINES = 300;
const root = join(import.meta.dirname, "..");
const problems: string[] = [];
const sources = new Map<string, string>();

for (const file of globSync("{src,local,console,scripts,bench,test}/**/*.ts", { cwd: root })) {
  const text = readFileSync(join(root, file), "utf8");
  if (file.startsWith("src/")) sources.set(file, text);
  const lines = text.split("\n").length - 1;
  if (lines > MAX_LINES) problems.push(`${file} has ${lines} lines: which nouns live in it?`);
  for (const [, target] of text.matchAll(/from "(\.[^"]+)"/g)) {
    checkImport(file, relative(root, join(root, dirname(file), target!)));
  }
}

function checkImport(file: string, target: string): void {
  if (file === "local/worker.ts") return;
  const refuse = (why: string) => problems.push(`${file} imports ${target}: ${why}`);
  if (file.startsWith("local/") && target.startsWith("src/")) {
    if (!/^src\/(types|config)\.ts$/.test(target)) refuse("stand-ins take types and config only");
  }
  if (!file.startsWith("src/")) return;
  if (!target.startsWith("src/")) return void refuse("what is deployed stands alone");
  if (target.startsWith("src/durable/")) {
    if (file !== "src/index.ts" && !file.startsWith("src/durable/")) refuse("use the stub");
  }
  const [from, to] = [partOf(file), partOf(target)];
  const [own, other] = [floorOf(from), floorOf(to)];
  if (other > own) refuse("an arrow up");
  const siblings = own === other && from !== to;
  if (siblings && own > 0 && own < FLOORS.length - 1) refuse("a part of the same floor");
}

function partOf(file: string): string {
  const path = file.slice("src/".length).replace(/\.ts$/, "");
  return path === "queues/messages" ? path : path.split("/")[0]!;
}

function floorOf(part: string): number {
  const floor = FLOORS.findIndex((parts) => parts.includes(part));
  if (floor === -1)
    problems.push(`src/${part} stands on no floor: name it in scripts/check-layers.ts`);
  return floor;
}

problems.push(...looseIds(sources));
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
