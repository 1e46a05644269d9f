import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ProcessSupervisor, startChild } from "../../tools/stack/child.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { matchesOutput, type PageBlock, readPageBlocks } from "./page-blocks.ts";

/** Pages whose commands continue those of the tutorial. */
const GUIDES = ["search-guide.md", "answers-guide.md", "uploads.md", "webhooks.md", "mcp.md"];
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
}, 120_000);

afterAll(async () => {
  await supervisor.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

const blocksOf = (page: string, language: string) =>
  readPageBlocks(page).filter((block) => block.language === language);

/** Runs commands of pages in one shell, in order, and returns what each block printed. */
async function runCommands(blocks: PageBlock[]): Promise<string[]> {
  const script = blocks.map(({ code }) => `${code}\necho "${SEPARATOR}"`).join("\n");
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: PROJECT, env });
  return stdout.split(`${SEPARATOR}\n`);
}

function expectOutput({ at, output }: PageBlock, printed: string): void {
  if (output === undefined) return;
  const isShown = matchesOutput(output, printed);
  expect({ at, printed: isShown ? output : printed }).toEqual({ at, printed: output });
}

describe("the tutorial", () => {
  it("prints what it shows, and so do the guides that continue it", async () => {
    const blocks = ["tutorial.md", ...GUIDES].flatMap((page) => blocksOf(page, "sh"));
    expect(blocks.length).toBeGreaterThan(20);
    const printed = await runCommands(blocks);
    for (const [i, block] of blocks.entries()) expectOutput(block, printed[i]!);
  }, 240_000);

  it("has a TypeScript program that prints what it shows", async () => {
    await runProgram("ts", process.execPath);
  }, 60_000);

  const hasPython = spawnSync("python3", ["-c", "import requests"]).status === 0;
  if (hasPython) {
    it("has a Python program that prints what it shows", async () => {
      await runProgram("python", "python3");
    }, 60_000);
  }
});

/** Runs the tutorial's only program in a language. */
async function runProgram(language: string, command: string): Promise<void> {
  const [block] = blocksOf("tutorial.md", language);
  const file = join(folder, `first.${language}`);
  writeFileSync(file, block!.code);
  const { stdout: samples } = await run("npm", ["run", "--silent", "sample"], {
    cwd: PROJECT,
    env,
  });
  const options = { env: { ...env, SAMPLES: samples.trim() } };
  const { stdout } = await run(command, [file], options);
  expectOutput(block!, stdout);
}
