import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sightline } from "sightline";
import { createKey } from "../tools/stack/api-key.ts";
import { findFreePort } from "../tools/stack/ports.ts";
import { startStack } from "../tools/stack/stack.ts";
import type { SuiteOptions } from "../tools/suite.ts";

/** A running service. */
export interface RunningService {
  url: string;
  key: string;
  sightline: Sightline;
  /** Runs the Worker's cron trigger now. */
  runScheduled: () => void;
  stop: () => Promise<void>;
}

/**
 * Runs `use` with a function that starts the service, any number of times, on one state folder and
 * one port. The folder is deleted at the end.
 */
export async function withRestarts<T>(
  { log, signal }: Pick<SuiteOptions, "log" | "signal">,
  use: (start: () => Promise<RunningService>) => Promise<T>,
): Promise<T> {
  const stateDir = await mkdtemp(join(tmpdir(), "sightline-restarts-"));
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  try {
    return await use(async () => {
      const stack = await startStack({ port, enginePort, stateDir, log, signal });
      const key = await createKey(stack.keySecrets, { account: "bench" });
      return {
        url: stack.url,
        key,
        sightline: new Sightline({ url: stack.url, apiKey: key, signal, maxRetries: 0 }),
        runScheduled: () => stack.runScheduled(),
        stop: () => stack.stop(),
      };
    });
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}
