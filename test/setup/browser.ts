import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ProcessSupervisor, startChild } from "../../tools/stack/child.ts";

/** A running service whose account has the index `AWKWARD_INDEX`, with a video that failed. */
export interface ConsoleService {
  url: string;
  key: string;
  /** Value of `KEY_SECRETS`. */
  keySecrets: string;
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
  const stop = async () => {
    await supervisor.stopAll();
    await rm(folder, { recursive: true });
  };
  const ready = Promise.withResolvers<ConsoleService>();
  const child = supervisor.supervise(
    startChild({
      name: "The service of the console's tests",
      args: ["test/setup/console-service.ts"],
      env: {},
      logFile: join(folder, "service.log"),
      onLine: (line) => line.startsWith("{") && ready.resolve(JSON.parse(line)),
    }),
  );
  try {
    const failed = child.ended.then((reason) => Promise.reject(new Error(reason)));
    project.provide("consoleService", await Promise.race([ready.promise, failed]));
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
