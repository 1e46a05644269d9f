import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Child, Leash, startChild } from "./child.ts";
import { ensureSecrets, PROJECT, secretsFile, writeEngineUrl } from "./local-state.ts";
import { isListening, requireFreePort } from "./ports.ts";
import { devArgs, migrateArgs, wranglerEnv } from "./wrangler.ts";

export interface StackOptions {
  /** Of the Worker, on 127.0.0.1. */
  port: number;
  /** Of the engine, on 127.0.0.1. */
  enginePort: number;
  stateDir: string;
  /** Of the Worker, in place of the configuration's own: a path in the project. */
  entry?: string;
  /** What a person should know, a line at a time. */
  log: (line: string) => void;
  /** What the Worker prints once it is ready, a line at a time. */
  onWorkerLine?: (line: string) => void;
  /** Aborting it while the stack starts ends what has started. */
  signal?: AbortSignal;
}

export interface Stack {
  /** Without a slash at its end. */
  url: string;
  /** Likewise, of the engine. */
  engineUrl: string;
  engineToken: string;
  /** As `KEY_SECRETS`. */
  keySecrets: string;
  /** Settles when the Worker has ended, with why in a sentence. */
  ended: Promise<string>;
  /** Ends every process that was started; resolves when none is left. */
  stop(): Promise<void>;
}

const READY_MS = 90_000;
const LOOK_MS = 100;
const MINUTE_MS = 60_000;
const LONGEST_BACK_OFF_MS = 30_000;

/** Address of what listens at `port`. */
export function stackUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Whether a Sightline answers at `url`. */
export async function isRunning(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) });
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
 * Throws a sentence for a person where a port is taken or a process ends early. Every process ends
 * with this one, whatever ends it.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { port, enginePort, stateDir, signal } = options;
  await requireFreePort(port, "PORT");
  await requireFreePort(enginePort, "ENGINE_PORT");
  const { keySecrets, engineToken } = await ensureSecrets(stateDir);
  await writeEngineUrl(stateDir, stackUrl(enginePort));
  const logs = join(stateDir, "logs");
  await mkdir(logs, { recursive: true });

  const leash = new Leash();
  let phase: Phase = "starting";
  let minutes: NodeJS.Timeout | undefined;
  const stop = () => {
    phase = "stopping";
    clearInterval(minutes);
    return leash.end();
  };
  const url = stackUrl(port);
  const settled = new AbortController();
  const over = AbortSignal.any(signal ? [signal, settled.signal] : [settled.signal]);
  try {
    const engine = keepEngine(leash, options, engineToken, () => phase);
    // The Worker must not answer before all of its tables are there.
    await Promise.race([applyMigrations(leash, stateDir), engine]);
    const worker = leash.hold(
      startChild({
        name: "The Worker",
        args: devArgs(stateDir, port, secretsFile(stateDir), options.entry),
        env: wranglerEnv(stateDir),
        logFile: join(logs, "worker.log"),
        onLine: (line) => phase === "ready" && options.onWorkerLine?.(line),
      }),
    );
    const answers = Promise.all([
      until(() => isRunning(url), "The Worker", over),
      until(() => isListening(enginePort), "The engine", over),
    ]);
    await Promise.race([answers, failing(worker), engine]);
    phase = "ready";
    minutes = setInterval(() => void tick(url), MINUTE_MS);
    const engineUrl = stackUrl(enginePort);
    return { url, engineUrl, engineToken, keySecrets, ended: worker.ended, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    settled.abort();
  }
}

/** Runs the Worker's cron trigger, which the local runtime has no clock for. */
export async function tick(url: string): Promise<void> {
  await fetch(`${url}/cdn-cgi/local/scheduled`).catch(() => undefined); // a Worker that has just ended
}

type Phase = "starting" | "ready" | "stopping";

/** Starts the engine, and again whenever it ends. Throws if it ends while the stack still starts. */
async function keepEngine(
  leash: Leash,
  { enginePort, stateDir, log }: StackOptions,
  token: string,
  phase: () => Phase,
): Promise<void> {
  for (let pause = 1000; ; pause = Math.min(2 * pause, LONGEST_BACK_OFF_MS)) {
    const startedAt = Date.now();
    const child = leash.hold(
      startChild({
        name: "The engine",
        args: ["local/engine/server.ts"],
        env: { ENGINE_PORT: String(enginePort), ENGINE_TOKEN: token },
        logFile: join(stateDir, "logs/engine.log"),
      }),
    );
    const why = await child.ended;
    if (phase() === "stopping") return;
    if (phase() === "starting") throw new Error(why);
    if (Date.now() - startedAt > LONGEST_BACK_OFF_MS) pause = 1000;
    log(`${why}\nStarting it again in ${pause / 1000} s.`);
    await wait(pause);
    if (phase() === "stopping") return;
  }
}

/** Brings the local database up to date. A stamp beside it saves the seconds when it already is. */
async function applyMigrations(leash: Leash, stateDir: string): Promise<void> {
  const stamp = join(stateDir, "v3/d1/migrations.sha256");
  const wanted = await hashFolder(join(PROJECT, "migrations"));
  if ((await readFile(stamp, "utf8").catch(() => "")) === wanted) return;
  const child = leash.hold(
    startChild({
      name: "Applying the database migrations",
      args: migrateArgs(stateDir),
      env: wranglerEnv(stateDir),
      logFile: join(stateDir, "logs/migrations.log"),
    }),
  );
  const why = await child.ended;
  if (!child.succeeded()) throw new Error(why);
  await writeFile(stamp, wanted);
}

async function hashFolder(folder: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of (await readdir(folder)).sort()) {
    hash.update(file).update(await readFile(join(folder, file)));
  }
  return hash.digest("hex");
}

async function failing(child: Child): Promise<never> {
  throw new Error(await child.ended);
}

async function until(isTrue: () => Promise<boolean>, name: string, signal: AbortSignal) {
  for (const start = Date.now(); Date.now() - start < READY_MS; await wait(LOOK_MS)) {
    signal.throwIfAborted();
    if (await isTrue()) return;
  }
  throw new Error(`${name} did not get ready within ${READY_MS / 1000} s.`);
}
