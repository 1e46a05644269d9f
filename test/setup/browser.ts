import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ProcessSupervisor, startChild } from "../../tools/stack/child.ts";
import { startWebhookServer } from "./webhook-server.ts";

/** A running service with two accounts, and a receiver of webhooks that it may call. */
export interface ConsoleService {
  url: string;
  /** Key of the account with the index `AWKWARD_INDEX`, which has a video that failed. */
  key: string;
  /** Key of the account with the index `SAMPLE_INDEX`. */
  sampleKey: string;
  /** Value of `KEY_SECRETS`. */
  keySecrets: string;
  /** Origin of the webhook receivers. */
  webhooksOrigin: string;
}

declare module "vitest" {
  interface ProvidedContext {
    consoleService: ConsoleService;
  }
}

/** Starts one service for all tests of the console; it stops with the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-test-"));
  const supervisor = new ProcessSupervisor();
  const webhooks = await startWebhookServer();
  const stop = async () => {
    await Promise.all([supervisor.stopAll(), webhooks.close()]);
    await rm(folder, { recursive: true });
  };
  const ready = Promise.withResolvers<Omit<ConsoleService, "webhooksOrigin">>();
  const child = supervisor.supervise(
    startChild({
      name: "The service of the console's tests",
      args: ["test/setup/console-service.ts"],
      env: { FETCH_ALLOW: webhooks.host },
      logFile: join(folder, "service.log"),
      onLine: (line) => line.startsWith("{") && ready.resolve(JSON.parse(line)),
    }),
  );
  try {
    const failed = child.ended.then((reason) => Promise.reject(new Error(reason)));
    const service = await Promise.race([ready.promise, failed]);
    project.provide("consoleService", { ...service, webhooksOrigin: webhooks.origin });
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
