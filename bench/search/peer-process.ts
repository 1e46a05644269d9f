import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../local/engine/program.ts";
import { type Leash, startChild } from "../../scripts/stack/child.ts";
import { PROJECT } from "../../scripts/stack/local-state.ts";
import type { Service } from "../service.ts";
import type { SuiteOptions } from "../suite.ts";
import { type Batch, encodeBatch } from "./batch.ts";
import { type Contestant, timeSearch } from "./contestants.ts";
import type { PeerHit } from "./peer-server.ts";

const MANIFEST = join(import.meta.dirname, "peers/package.json");

/** Where the peers' packages are: installed there the first time, at the manifest's versions, nothing run. */
export async function installPeers({ log, signal }: SuiteOptions): Promise<string> {
  const folder = join(PROJECT, ".wrangler/bench/peers");
  const installed = join(folder, "installed.json");
  const wanted = await readFile(MANIFEST, "utf8");
  if ((await readFile(installed, "utf8").catch(() => "")) === wanted) return folder;
  log("Installing the peers …");
  await mkdir(folder, { recursive: true });
  await copyFile(MANIFEST, join(folder, "package.json"));
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { succeeded, stderr } = await runProgram("npm", args, { signal });
  if (!succeeded) throw new Error(`The peers could not be installed.\n${stderr}`);
  await copyFile(MANIFEST, installed);
  return folder;
}

/** A peer in a process of its own. */
export interface RunningPeer {
  add(batch: Batch): Promise<void>;
  prepare(): Promise<void>;
  asContestant(name: string, approximate: boolean): Contestant;
}

/** Starts `peers/<script>.ts`, which ends with the leash. */
export async function startPeer(
  script: string,
  { engine, folder }: Service,
  { packages, leash, topK }: { packages: string; leash: Leash; topK: number },
): Promise<RunningPeer> {
  const started = Promise.withResolvers<string>();
  const path = `bench/search/peers/${script}.ts`;
  const child = leash.hold(
    startChild({
      name: script,
      args: ["--max-old-space-size=8192", path],
      env: {
        ENGINE_URL: engine.url,
        ENGINE_TOKEN: engine.token,
        PEER_PACKAGES: packages,
        PEER_DATA: join(folder, script),
      },
      logFile: join(folder, `logs/${script}.log`),
      onLine: (line) => {
        const url = /^peer on (\S+)$/.exec(line)?.[1];
        if (url) started.resolve(url);
      },
    }),
  );
  const failed = child.ended.then((why): never => {
    throw new Error(why);
  });
  const url = await Promise.race([started.promise, failed]);
  failed.catch(() => {}); // what is asked of it later fails by itself
  const post = async (what: string, body?: Uint8Array<ArrayBuffer>) => {
    const response = await fetch(`${url}/${what}`, { method: "POST", body: body ?? null });
    if (!response.ok) throw new Error(`${script}: ${await response.text()}`);
  };
  return {
    add: (batch) => post("rows", encodeBatch(batch)),
    prepare: () => post("prepare"),
    asContestant: (name, approximate) => ({
      name,
      process: path,
      search: (query) =>
        timeSearch(`${url}/search`, {}, { query, top_k: topK, approximate }, readPeer),
    }),
  };
}

function readPeer(json: string): string[] {
  const { hits }: { hits: PeerHit[] } = JSON.parse(json);
  return hits.map(({ segmentId }) => segmentId);
}
