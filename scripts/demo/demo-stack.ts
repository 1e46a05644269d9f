import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { commandLine } from "../../local/engine/packages.ts";
import { startDetached } from "../../tools/stack/child.ts";
import { ensureSecrets, PROJECT } from "../../tools/stack/local-state.ts";
import { isPortOpen, requireFreePort } from "../../tools/stack/ports.ts";
import { isRunning, startStack, stackUrl, type StackOptions } from "../../tools/stack/stack.ts";
import { STARTING } from "../../tools/stack/start-report.ts";

export interface DemoStack {
  url: string;
  /** URL of the engine, without a slash at the end. */
  engineUrl: string;
  /** Signing secrets, in the format of `KEY_SECRETS`. */
  keySecrets: string;
  /** Says what happens to the service when the demo ends. */
  closingNote: string;
  /** Stops the service if it was started for this demo only. */
  close(): Promise<void>;
}

const READY_MS = 10 * 60_000;

/**
 * Uses the service that runs at the port, or starts one: for this demo, or to stay if
 * `staysRunning`.
 */
export async function openDemoStack(
  options: StackOptions,
  staysRunning: boolean,
): Promise<DemoStack> {
  const url = stackUrl(options.port);
  const engineUrl = stackUrl(options.enginePort);
  if (await isRunning(url)) {
    const { keySecrets } = await ensureSecrets(options.stateDir);
    const closingNote = `Sightline still runs at ${url}, as it did before.`;
    return { url, engineUrl, keySecrets, closingNote, close: async () => {} };
  }
  console.log(STARTING);
  if (staysRunning) return startDetachedStack(options);
  const stack = await startStack(options);
  const closingNote =
    `The console plays the moments while the service runs: \`${commandLine("dev")}\` starts it\n` +
    `again with this index in it, and \`${commandLine("demo", "path… --keep")}\` leaves it running.`;
  return { url, engineUrl, keySecrets: stack.keySecrets, closingNote, close: () => stack.stop() };
}

/** Starts `npm run dev` in the background, with a log in the state folder. */
async function startDetachedStack({
  port,
  enginePort,
  stateDir,
  signal,
}: StackOptions): Promise<DemoStack> {
  await requireFreePort(port, "PORT");
  await requireFreePort(enginePort, "ENGINE_PORT");
  const { keySecrets } = await ensureSecrets(stateDir);
  await mkdir(join(stateDir, "logs"), { recursive: true });
  const logFile = join(stateDir, "logs/dev.log");
  const child = startDetached([join(PROJECT, "scripts/dev.ts")], logFile);
  const url = stackUrl(port);
  const deadline = Date.now() + READY_MS;
  while (!((await isRunning(url)) && (await isPortOpen(enginePort)))) {
    const hasExited = child.exitCode !== null || child.signalCode !== null;
    if (hasExited || signal?.aborted || Date.now() > deadline) {
      child.kill("SIGTERM");
      signal?.throwIfAborted();
      throw new Error(`The service did not start. Its log is ${logFile}.`);
    }
    await wait(100);
  }
  const closingNote = `Sightline still runs at ${url}. Stop it with: kill ${child.pid}`;
  return { url, engineUrl: stackUrl(enginePort), keySecrets, closingNote, close: async () => {} };
}
