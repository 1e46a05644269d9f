import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { transform } from "esbuild";
import { bundleConsole } from "../../tools/bundle-console.ts";
import { ProcessSupervisor } from "../../tools/stack/child.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { applyMigrations } from "../../tools/stack/stack.ts";
import { deploymentArgs } from "../../tools/stack/wrangler.ts";
import { writeJson } from "../decoder/contents.ts";
import { renameSources, resolveSource, traceSources } from "./sources.ts";
import { VENDORED_NAMES, vendorPackages } from "./vendored.ts";

const COMMAND = "scripts/package/sightline.ts";
/** Scripts that run: the command, and what it starts as processes. */
const ENTRIES = [
  COMMAND,
  "tools/stack/worker-process.ts",
  "tools/stack/reaper.ts",
  "local/engine/server.ts",
];
/** Packages that only the vendored ones import. */
const INDIRECT = ["@huggingface/jinja", "@huggingface/tokenizers", "seedrandom"];
const WORKER_CONFIG = "local/wrangler.toml";

/** Replaces the Worker's entry by its bundle, which Wrangler doesn't bundle again. */
const BUNDLED_ENTRY = `main = "worker/worker.js"
no_bundle = true
rules = [{ type = "CompiledWasm", globs = ["**/*.wasm"] }]`;

interface Manifest {
  version: string;
  description: string;
  license: string;
}

/** Writes what `npm pack` packs for a platform, `linux-x64` and the like, to an empty folder. */
export async function writePackage(folder: string, platform: string): Promise<void> {
  const modules = join(PROJECT, "node_modules");
  const [os = "", cpu = ""] = platform.split("-");
  if (!existsSync(join(modules, "onnxruntime-node/bin/napi-v6", os, cpu))) {
    throw new Error(`ONNX Runtime has no files for the platform "${platform}".`);
  }
  await rm(folder, { recursive: true, force: true });
  const { files, packages } = traceSources(PROJECT, ENTRIES);
  for (const file of files) await compile(folder, file);
  await bundleWorker(folder);
  await migrateDatabase(folder);
  await bundleConsole(join(PROJECT, "console"), join(folder, "console"));
  for await (const map of glob("console/**/*.map", { cwd: folder })) await rm(join(folder, map));
  for (const name of ["migrations", "LICENSE"]) {
    await cp(join(PROJECT, name), join(folder, name), { recursive: true });
  }
  const page = await readFile(join(PROJECT, "docs/command-line.md"), "utf8");
  // bounded: a page of our own
  await writeFile(join(folder, "README.md"), page.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
  await vendorPackages(modules, join(folder, "node_modules"), `${os}/${cpu}`);

  const native = `@seydx/node-av-${os}-${cpu}${os === "win32" ? "-msvc" : ""}`;
  const names = new Set([...packages, ...INDIRECT, ...VENDORED_NAMES]);
  const versions = [...names].toSorted().map(async (name) => [name, await versionOf(name)]);
  const { version, description, license } = await readManifest(PROJECT);
  await writeJson(join(folder, "package.json"), {
    name: "sightline-service",
    version,
    description,
    license,
    type: "module",
    bin: { sightline: COMMAND.replace(/ts$/, "js") },
    engines: { node: ">=22" },
    os: [os],
    cpu: [cpu],
    dependencies: {
      ...Object.fromEntries(await Promise.all(versions)),
      [native]: await versionOf("node-av"),
    },
    bundleDependencies: VENDORED_NAMES,
  });
}

/** Writes a file of the project to the package, TypeScript as JavaScript. */
async function compile(folder: string, file: string): Promise<void> {
  const target = join(folder, file);
  await mkdir(dirname(target), { recursive: true });
  if (!file.endsWith(".ts")) return cp(join(PROJECT, file), target);
  const source = await readFile(join(PROJECT, file), "utf8");
  const { code } = await transform(source, { loader: "ts", format: "esm", target: "node22" });
  const isSource = (name: string) => resolveSource(PROJECT, file, name) !== null;
  await writeFile(target.replace(/ts$/, "js"), renameSources(code, isSource));
}

/** Bundles the local Worker, and writes a configuration that runs the bundle. */
async function bundleWorker(folder: string): Promise<void> {
  const worker = join(folder, "local/worker");
  const args = deploymentArgs(WORKER_CONFIG, "deploy", "--dry-run", "--minify");
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
  const options = { cwd: PROJECT, env, encoding: "utf8" } as const;
  const { status, stderr } = spawnSync(process.execPath, [...args, "--outdir", worker], options);
  if (status !== 0) throw new Error(`Wrangler doesn't bundle the Worker:\n${stderr}`);
  for (const name of ["README.md", "worker.js.map"]) await rm(join(worker, name));
  const config = await readFile(join(PROJECT, WORKER_CONFIG), "utf8");
  await writeFile(join(folder, WORKER_CONFIG), config.replace(/^main = .*$/m, BUNDLED_ENTRY));
}

/** Adds a migrated database: the first start of an installation copies it. */
async function migrateDatabase(folder: string): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), "sightline-migrated-"));
  const supervisor = new ProcessSupervisor();
  try {
    await mkdir(join(stateDir, "logs"));
    process.env["MIGRATED_DATABASES"] = join(folder, "local/databases");
    await mkdir(process.env["MIGRATED_DATABASES"], { recursive: true });
    await applyMigrations(supervisor, stateDir);
  } finally {
    await supervisor.stopAll();
    await rm(stateDir, { recursive: true });
  }
}

async function versionOf(name: string): Promise<string> {
  return (await readManifest(join(PROJECT, "node_modules", name))).version;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
}
