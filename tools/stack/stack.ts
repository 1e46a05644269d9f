import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { IS_PACKAGE } from "../../local/engine/packages.ts";
import { readTextOrEmpty } from "../read-text.ts";
import { type Child, ProcessSupervisor, startChild } from "./child.ts";
import { ensureSecrets, PROJECT, secretsFile, writeEngineUrl } from "./local-state.ts";
import { isPortOpen, requireFreePort } from "./ports.ts";
import type { WorkerSettings } from "./worker-process.ts";
import { migrateArgs, wranglerEnv } from "./wrangler.ts";

export interface StackOptions {
  /** Port of the Worker on 127.0.0.1. */
  port: number;
  /** Port of the engine on 127.0.0.1. */
  enginePort: number;
  stateDir: string;
  /** Entry of the Worker instead of the configured one: a path in the project. */
  entry?: string;
  /** Serves the console's sources, which can be edited, instead of its bundle. */
  servesSources?: boolean;
  /** Largest request body in bytes. Default `DEFAULT_MAX_BODY_BYTES`. */
  maxBodyBytes?: number;
  /** Opens the runtime's inspector, which gives any local program the Worker's secrets. */
  inspect?: boolean;
  /** Prints a message for people, one line per call. */
  log: (line: string) => void;
  /** Gets each part of the service when it is ready. */
  onReady?: (part: StackPart) => void;
  /** Gets each output line of the Worker once it is ready. */
  onWorkerLine?: (line: string) => void;
  /** Aborting during start-up ends what has started. */
  signal?: AbortSignal;
}

export type StackPart = "database" | "models" | "service";

export interface Stack {
  /** URL of the Worker, without a slash at the end. */
  url: string;
  /** URL of the engine, without a slash at the end. */
  engineUrl: string;
  engineToken: string;
  /** Signing secrets, in the format of `KEY_SECRETS`. */
  keySecrets: string;
  /** Resolves when the Worker has ended, with the reason as a sentence. */
  ended: Promise<string>;
  /** Runs the Worker's cron trigger now. It runs every minute by itself. */
  runScheduled(): void;
  /** Ends every process; resolves when none is left. */
  stop(): Promise<void>;
}

const READY_MS = 10 * 60_000;
const POLL_MS = 100;
/** Largest request body of most Cloudflare plans. */
export const DEFAULT_MAX_BODY_BYTES = 100_000_000;
/** No limit, for commands that stand for no client of a deployed service. */
export const ANY_BODY_BYTES = Number.MAX_SAFE_INTEGER;
const MAX_BACK_OFF_MS = 30_000;

/** Returns the local URL of a port. */
export function stackUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Returns whether a Sightline service answers at `url`. */
export async function isRunning(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(30_000) });
    const body: unknown = await response.json();
    return (
      typeof body === "object" && body !== null && "service" in body && body.service === "sightline"
    );
  } catch {
    return false;
  }
}

/**
 * Applies migrations, starts the engine and the Worker, and resolves when `GET /health` answers.
 * Throws a readable error if a port is taken or a process ends early. Every process ends with this
 * one.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { port, enginePort, stateDir, signal } = options;
  if (!IS_PACKAGE && !existsSync(join(PROJECT, "console/console/packages/sightline"))) {
    throw new Error("The packages of the console are missing. Run `npm ci` in this folder first.");
  }
  await requireFreePort(port, "PORT");
  await requireFreePort(enginePort, "ENGINE_PORT");
  const { keySecrets, engineToken } = await ensureSecrets(stateDir);
  await writeEngineUrl(stateDir, stackUrl(enginePort));
  const logs = join(stateDir, "logs");
  await mkdir(logs, { recursive: true });
  const assets = assetsFolder(options);
  if (assets !== null) {
    const { bundleConsole } = await import("../bundle-console.ts");
    await bundleConsole(join(PROJECT, "console"), assets);
  }

  const supervisor = new ProcessSupervisor();
  let phase: Phase = "starting";
  const stop = () => {
    phase = "stopping";
    return supervisor.stopAll();
  };
  const url = stackUrl(port);
  const settled = new AbortController();
  const aborted = AbortSignal.any(signal ? [signal, settled.signal] : [settled.signal]);
  try {
    const engine = superviseEngine(supervisor, options, engineToken, () => phase);
    // The Worker must not answer before all tables exist.
    await Promise.race([applyMigrations(supervisor, stateDir), engine]);
    options.onReady?.("database");
    const worker = supervisor.supervise(
      startChild({
        name: "The Worker",
        args: ["tools/stack/worker-process.ts"],
        env: { ...wranglerEnv(stateDir), WORKER_SETTINGS: JSON.stringify(workerSettings(options)) },
        logFile: join(logs, "worker.log"),
        onLine: (line) => phase === "ready" && options.onWorkerLine?.(line),
      }),
    );
    const report = (part: StackPart) => () => options.onReady?.(part);
    const ready = Promise.all([
      waitUntil(() => isRunning(url), "The Worker", aborted).then(report("service")),
      waitUntil(() => isPortOpen(enginePort), "The engine", aborted).then(report("models")),
    ]);
    await Promise.race([ready, rejectOnEnd(worker), engine]);
    phase = "ready";
    const engineUrl = stackUrl(enginePort);
    const runScheduled = () => void (phase === "ready" && process.kill(worker.group, "SIGUSR2"));
    return { url, engineUrl, engineToken, keySecrets, ended: worker.ended, runScheduled, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    settled.abort();
  }
}

function workerSettings(options: StackOptions): WorkerSettings {
  const { stateDir, port, entry, maxBodyBytes = DEFAULT_MAX_BODY_BYTES, inspect = false } = options;
  const envFile = secretsFile(stateDir);
  const assets = assetsFolder(options);
  const base = { stateDir, envFile, port, maxBodyBytes, inspect };
  const settings = assets === null ? base : { ...base, assets };
  return entry === undefined ? settings : { ...settings, entry };
}

/** Returns the folder of the console's bundle; null if the configured folder is served. */
function assetsFolder({ stateDir, servesSources }: StackOptions): string | null {
  return servesSources || IS_PACKAGE ? null : join(stateDir, "console");
}

type Phase = "starting" | "ready" | "stopping";

/**
 * Starts the engine and restarts it whenever it ends, with exponential back-off. Throws if it ends
 * while the stack starts.
 */
async function superviseEngine(
  supervisor: ProcessSupervisor,
  { enginePort, stateDir, log }: StackOptions,
  token: string,
  phase: () => Phase,
): Promise<void> {
  for (let pause = 1000; ; pause = Math.min(2 * pause, MAX_BACK_OFF_MS)) {
    const startedAt = Date.now();
    const child = supervisor.supervise(
      startChild({
        name: "The engine",
        args: ["local/engine/server.ts"],
        env: { ENGINE_PORT: String(enginePort), ENGINE_TOKEN: token },
        logFile: join(stateDir, "logs/engine.log"),
      }),
    );
    const reason = await child.ended;
    if (phase() === "stopping") return;
    if (phase() === "starting") throw new Error(reason);
    if (Date.now() - startedAt > MAX_BACK_OFF_MS) pause = 1000;
    log(`${reason}\nRestarting it in ${pause / 1000} s.`);
    await wait(pause);
    if (phase() === "stopping") return;
  }
}

/**
 * Applies migrations to the local database. A hash file beside it skips this if nothing changed.
 * Tests share a migrated database in the folder `MIGRATED_DATABASES`: Wrangler starts a runtime for
 * each migration.
 */
export async function applyMigrations(
  supervisor: ProcessSupervisor,
  stateDir: string,
): Promise<void> {
  const database = join(stateDir, "v3/d1");
  const stamp = join(database, "migrations.sha256");
  const migrationsHash = await hashFolder(join(PROJECT, "migrations"));
  if ((await readTextOrEmpty(stamp)) === migrationsHash) return;
  const { MIGRATED_DATABASES: folder } = process.env;
  const shared = folder && !existsSync(database) ? join(folder, migrationsHash) : null;
  if (shared !== null && existsSync(shared)) return cp(shared, database, { recursive: true });
  const child = supervisor.supervise(
    startChild({
      name: "Applying the database migrations",
      args: migrateArgs(stateDir),
      env: wranglerEnv(stateDir),
      logFile: join(stateDir, "logs/migrations.log"),
    }),
  );
  const reason = await child.ended;
  if (!child.succeeded()) throw new Error(reason);
  await writeFile(stamp, migrationsHash);
  if (shared !== null) await shareFolder(database, shared);
}

/** Copies a folder to where others find it once it is complete. */
async function shareFolder(folder: string, shared: string): Promise<void> {
  const copy = `${shared}.${process.pid}-${Date.now()}`;
  await cp(folder, copy, { recursive: true });
  try {
    await rename(copy, shared);
  } catch {
    await rm(copy, { recursive: true }); // another process was first
  }
}

async function hashFolder(folder: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of (await readdir(folder)).sort()) {
    hash.update(file).update(await readFile(join(folder, file)));
  }
  return hash.digest("hex");
}

async function rejectOnEnd(child: Child): Promise<never> {
  throw new Error(await child.ended);
}

async function waitUntil(isTrue: () => Promise<boolean>, name: string, signal: AbortSignal) {
  for (const start = Date.now(); Date.now() - start < READY_MS; await wait(POLL_MS)) {
    signal.throwIfAborted();
    if (await isTrue()) return;
  }
  throw new Error(`${name} did not get ready within ${READY_MS / 1000} s.`);
}
