import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../local/engine/program.ts";
import { type SegmentBatch, encodeBatch } from "../../tools/segment-batch.ts";
import type { Service } from "../../tools/service.ts";
import { type ProcessSupervisor, startChild } from "../../tools/stack/child.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import type { SuiteOptions } from "../../tools/suite.ts";
import type { BaselineHit } from "./baseline-server.ts";
import { type SearchSystem, timeSearch } from "./systems.ts";

const MANIFEST = join(import.meta.dirname, "baselines/package.json");

/**
 * Installs the packages of the baselines at the versions of the manifest, without install scripts,
 * unless they are installed. Returns their folder.
 */
export async function installBaselines({ log, signal }: SuiteOptions): Promise<string> {
  const folder = join(PROJECT, ".wrangler/bench/baselines");
  const installed = join(folder, "installed.json");
  const manifest = await readFile(MANIFEST, "utf8");
  if ((await readFile(installed, "utf8").catch(() => "")) === manifest) return folder;
  log("Installing the baselines …");
  await mkdir(folder, { recursive: true });
  await copyFile(MANIFEST, join(folder, "package.json"));
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { succeeded, stderr } = await runProgram("npm", args, { signal });
  if (!succeeded) throw new Error(`The baselines could not be installed.\n${stderr}`);
  await copyFile(MANIFEST, installed);
  return folder;
}

/** A baseline that runs in its own process. */
export interface RunningBaseline {
  add(batch: SegmentBatch): Promise<void>;
  prepare(): Promise<void>;
  toSearchSystem(name: string, approximate: boolean): SearchSystem;
}

/** Starts `baselines/<script>.ts`; the supervisor ends it. */
export async function startBaseline(
  script: string,
  { engine, folder }: Service,
  { packages, supervisor, topK }: { packages: string; supervisor: ProcessSupervisor; topK: number },
): Promise<RunningBaseline> {
  const started = Promise.withResolvers<string>();
  const path = `bench/search/baselines/${script}.ts`;
  const child = supervisor.supervise(
    startChild({
      name: script,
      args: ["--max-old-space-size=8192", path],
      env: {
        ENGINE_URL: engine.url,
        ENGINE_TOKEN: engine.token,
        BASELINE_PACKAGES: packages,
        BASELINE_DATA: join(folder, script),
      },
      logFile: join(folder, `logs/${script}.log`),
      onLine: (line) => {
        const url = /^baseline on (\S+)$/.exec(line)?.[1];
        if (url) started.resolve(url);
      },
    }),
  );
  const failed = child.ended.then((reason): never => {
    throw new Error(reason);
  });
  const url = await Promise.race([started.promise, failed]);
  failed.catch(() => {}); // later requests fail by themselves
  const post = async (what: string, body?: Uint8Array<ArrayBuffer>) => {
    const response = await fetch(`${url}/${what}`, { method: "POST", body: body ?? null });
    if (!response.ok) throw new Error(`${script}: ${await response.text()}`);
  };
  return {
    add: (batch) => post("rows", encodeBatch(batch)),
    prepare: () => post("prepare"),
    toSearchSystem: (name, approximate) => ({
      name,
      processName: path,
      search: (query) =>
        timeSearch(`${url}/search`, {}, { query, top_k: topK, approximate }, readSegmentIds),
    }),
  };
}

function readSegmentIds(json: string): string[] {
  const { hits }: { hits: BaselineHit[] } = JSON.parse(json);
  return hits.map(({ segmentId }) => segmentId);
}
