import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
    /** Responds with the `ConsoleService` once it runs, or with 500 and why it can't start. */
    consoleServiceUrl: string;
  }
}

/**
 * Starts one service for all tests of the console; it stops with the run. Other tests run while it
 * starts.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-test-"));
  const supervisor = new ProcessSupervisor();
  const webhooks = await startWebhookServer();
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
  const failed = child.ended.then((reason) => Promise.reject(new Error(reason)));
  const outcome = Promise.race([ready.promise, failed]).then(
    (service) => ({ status: 200, body: { ...service, webhooksOrigin: webhooks.origin } }),
    (error: unknown) => ({ status: 500, body: { error: String(error) } }),
  );
  const server = createServer((_, response) => {
    void outcome.then(({ status, body }) => response.writeHead(status).end(JSON.stringify(body)));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  project.provide("consoleServiceUrl", `http://127.0.0.1:${port}/`);
  return async () => {
    server.close();
    await Promise.all([supervisor.stopAll(), webhooks.close()]);
    await rm(folder, { recursive: true });
  };
}
