import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { startDetached } from "../stack/child.ts";
import { ensureSecrets, PROJECT } from "../stack/local-state.ts";
import { isListening, requireFreePort } from "../stack/ports.ts";
import { isRunning, startStack, stackUrl, type StackOptions } from "../stack/stack.ts";

export interface DemoStack {
  url: string;
  /** As `KEY_SECRETS`. */
  keySecrets: string;
  /** What happens to the service when the demo ends, for a person. */
  fate: string;
  /** Ends what only the demo needed. */
  close(): Promise<void>;
}

const READY_MS = 90_000;

/** The service that runs at the port already, or a new one: for this demo only, or to be kept. */
export async function openDemoStack(options: StackOptions, keep: boolean): Promise<DemoStack> {
  const url = stackUrl(options.port);
  if (await isRunning(url)) {
    const { keySecrets } = await ensureSecrets(options.stateDir);
    const fate = `Sightline still runs at ${url}, as it did before.`;
    return { url, keySecrets, fate, close: async () => {} };
  }
  if (keep) return keepStack(options);
  const stack = await startStack(options);
  const fate =
    "The links above work while the service runs: `npm run dev` starts it again with this index " +
    "in it, and `npm run demo -- --keep` leaves it running.";
  return { url, keySecrets: stack.keySecrets, fate, close: () => stack.stop() };
}

/** `npm run dev`, in the background, with a log in the state folder. */
async function keepStack({ port, enginePort, stateDir, signal }: StackOptions): Promise<DemoStack> {
  await requireFreePort(port, "PORT");
  await requireFreePort(enginePort, "ENGINE_PORT");
  const { keySecrets } = await ensureSecrets(stateDir);
  await mkdir(join(stateDir, "logs"), { recursive: true });
  const logFile = join(stateDir, "logs/dev.log");
  const child = startDetached([join(PROJECT, "scripts/dev.ts")], logFile);
  const url = stackUrl(port);
  const deadline = Date.now() + READY_MS;
  while (!((await isRunning(url)) && (await isListening(enginePort)))) {
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (ended || signal?.aborted || Date.now() > deadline) {
      child.kill("SIGTERM");
      signal?.throwIfAborted();
      throw new Error(`The service did not start. Its log is ${logFile}.`);
    }
    await wait(100);
  }
  const fate = `Sightline still runs at ${url}. Stop it with: kill ${child.pid}`;
  return { url, keySecrets, fate, close: async () => {} };
}
