import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { matchesOutput, type PageBlock, readPageBlocks } from "../../tools/page-blocks.ts";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { ProcessSupervisor, startChild } from "../../tools/stack/child.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";

/** Pages whose commands continue those of the tutorial. */
const GUIDES = ["search.md", "answers.md", "uploads.md", "events.md", "mcp.md"];
const SEPARATOR = "=== next block ===";

const run = promisify(execFile);
const supervisor = new ProcessSupervisor();
mkdirSync(join(PROJECT, ".wrangler"), { recursive: true });
const folder = mkdtempSync(join(PROJECT, ".wrangler/tutorial-")); // a fixed package is found there
let env: Record<string, string>;

/** Starts `npm run dev`, and takes URL and key from what it prints, as a reader does. */
beforeAll(async () => {
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  const greeting = Promise.withResolvers<string>();
  const lines: string[] = [];
  const child = startChild({
    name: "npm run dev",
    args: ["scripts/dev.ts"],
    env: { PORT: `${port}`, ENGINE_PORT: `${enginePort}`, STATE_DIR: join(folder, "state") },
    logFile: join(folder, "dev.log"),
    onLine: (line) => {
      lines.push(line);
      if (line.startsWith("export KEY=")) greeting.resolve(lines.join("\n"));
    },
  });
  supervisor.supervise(child);
  void child.ended.then((reason) => greeting.reject(new Error(reason)));
  const [, url] = /Sightline runs at (\S+)/.exec(await greeting.promise)!;
  const [, key] = /export KEY=(\S+)/.exec(await greeting.promise)!;
  env = {
    ...process.env,
    URL: url!,
    KEY: key!,
    PATH: `${join(PROJECT, "node_modules/.bin")}:${process.env["PATH"]}`,
  };
});

afterAll(async () => {
  await supervisor.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

const blocksOf = (page: string, language: string) =>
  readPageBlocks(page).filter((block) => block.language === language);

/** Runs commands of pages in one shell, in order, and returns what each block printed. */
async function runCommands(blocks: PageBlock[]): Promise<string[]> {
  const script = blocks.map(({ code }) => `${code}\necho "${SEPARATOR}"`).join("\n");
  const shell = spawn("bash", ["-euc", script], {
    cwd: PROJECT,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, "close"),
  ]);
  const printed = stdout.split(`${SEPARATOR}\n`);
  const last = { at: blocks[printed.length - 1]?.at, printed: printed.at(-1), stderr };
  expect({ code, last: code === 0 ? null : last }).toEqual({ code: 0, last: null });
  return printed;
}

/** Expects that each block printed what its page shows. */
function expectOutputs(blocks: PageBlock[], printed: string[]): void {
  const others = blocks.flatMap(({ at, output }, i) =>
    output === undefined || matchesOutput(output, printed[i]!)
      ? []
      : [{ at, output, printed: printed[i]! }],
  );
  expect(others).toEqual([]);
}

/** Programs that the pages use beside those of the project. */
const SHELL_TOOLS = ["bash", "base64", "curl", "cut", "grep", "head", "tail", "wc"];
const missingTools = SHELL_TOOLS.filter(
  (tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0,
);

if (missingTools.length > 0) {
  console.warn(`The commands of the pages aren't tested: ${missingTools.join(", ")} is missing.`);
} else {
  it("the commands of the tutorial and the guides print what the pages show", async () => {
    const blocks = ["tutorial.md", ...GUIDES].flatMap((page) => blocksOf(page, "sh"));
    expect(blocks.length).toBeGreaterThan(20);
    expectOutputs(blocks, await runCommands(blocks));
  });
}

/** Programs. Those of the second page use the index that the commands have made. */
const programPages = missingTools.length > 0 ? ["tutorial.md"] : ["tutorial.md", "uploads.md"];
const programs = programPages.flatMap((page) =>
  readPageBlocks(page).filter(
    (block) => block.language === "ts" || (block.language === "python" && canImport(block)),
  ),
);

it.each(programs)("the $language program at $at prints what the page shows", async (block) => {
  const file = join(folder, `program.${block.language}`);
  writeFileSync(file, block.code);
  const samples = await buildSamplePack(folder); // a copy: programs store upload URLs beside it
  const command = block.language === "ts" ? process.execPath : "python3";
  const { stdout } = await run(command, [file], { env: { ...env, SAMPLES: samples.folder } });
  expectOutputs([block], [stdout]);
});

/** Returns whether this machine has Python and the packages that a program imports. */
function canImport({ code }: PageBlock): boolean {
  const imports = code.match(/^(import|from) .*$/gm) ?? [];
  return spawnSync("python3", ["-c", imports.join("\n")]).status === 0;
}
