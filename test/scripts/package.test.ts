import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";

const MIB = 1024 * 1024;
/** What an installation may take: docs/command-line.md. */
const MAX_INSTALLED_MIB = 560;

const folder = mkdtempSync(join(tmpdir(), "sightline-npm-"));
const home = join(folder, "home");
const media = join(folder, "holidays");
const modules = join(folder, "node_modules");
const command = join(modules, ".bin/sightline");
let env: NodeJS.ProcessEnv;
let url: string;

/** Packs the package, and installs it from the file in an empty folder, without scripts. */
beforeAll(async () => {
  await run(process.execPath, ["scripts/package.ts", "--out", join(folder, "out")], PROJECT);
  const file = readdirSync(join(folder, "out")).find((name) => name.endsWith(".tgz"));
  rmSync(join(folder, "out/contents"), { recursive: true });
  const flags = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...flags, `./out/${file}`], folder);
  mkdirSync(home);
  mkdirSync(media);
  for (const { path } of (await buildSamplePack()).files) {
    if (basename(path) === "poster.jpg") cpSync(path, join(media, "poster.jpg"));
  }
  const port = await findFreePort();
  const { NODE_PATH: _, ...rest } = process.env;
  env = { ...rest, HOME: home, PORT: `${port}`, ENGINE_PORT: `${await findFreePort()}` };
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(program: string, args: string[], cwd: string): Promise<string> {
  return (await promisify(execFile)(program, args, { cwd, env })).stdout;
}

it("an installed npm package has no tools of development and stays below its size", () => {
  for (const name of ["vitest", "typescript", "node", "playwright-core", "onnxruntime-web"]) {
    expect({ name, isThere: existsSync(join(modules, name)) }).toEqual({ name, isThere: false });
  }
  const bytes = readdirSync(modules, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  expect(bytes / MIB).toBeLessThan(MAX_INSTALLED_MIB);
});

it("the command of an installed npm package indexes a folder and searches it", async () => {
  const output = await run(process.execPath, [command, "holidays"], folder);
  expect(output).toContain("to the index holidays.");
  expect(output).toMatch(/^ +0\.\d\d +poster\.jpg/m);
  expect(output).toContain("`npx sightline serve` starts it");
  expect(readdirSync(join(home, ".local/share/sightline"))).toContain("secrets.env");
});

it("an installed npm package serves what it indexed until it is interrupted", async () => {
  const service = spawn(process.execPath, [command, "serve"], { cwd: folder, env });
  const ended = once(service, "exit");
  const key = await readKey(service);
  const response = await fetch(`${url}/index/holidays/search`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ query: "lantern" }),
  });
  expect(await response.json()).toMatchObject({ segments: [{ title: "poster.jpg" }] });
  expect(await (await fetch(url)).text()).toContain("/console/built/");
  service.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
});

/** Waits for the key that the service prints when it is ready. */
async function readKey(service: ChildProcess): Promise<string> {
  let output = "";
  for (const stream of [service.stdout, service.stderr]) {
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  while (service.exitCode === null) {
    const key = /export KEY=(\S+)/.exec(output)?.[1];
    if (key !== undefined) return key;
    await wait(100);
  }
  throw new Error(output);
}

it("the command of an installed npm package names its commands", async () => {
  expect(await run(process.execPath, [command], folder)).toContain("npx sightline serve");
  expect(await run(process.execPath, [command, "help"], folder)).toMatch(/^  search /m);
});
