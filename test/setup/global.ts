import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { type Child, ProcessSupervisor, startChild } from "../../tools/stack/child.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";
import { startFileServer } from "./file-server.ts";
import { startMalformedServer } from "./malformed-server.ts";
import { NARRATION } from "./narration.ts";
import { startPlatformServer } from "./platform-server.ts";
import { startWebhookServer } from "./webhook-server.ts";

const POLL_MS = 100;

declare module "vitest" {
  interface ProvidedContext {
    engineUrl: string;
    engineToken: string;
    imageEmbeddingsUrl: string;
    /** Value of `KEY_SECRETS`. */
    keySecrets: string;
    /** Origin of the file server, without a trailing slash. */
    filesOrigin: string;
    /** `host:port` of the file server, for `FETCH_ALLOW`. */
    filesHost: string;
    /** Origin of the stubbed platforms: `PlatformServer`. */
    platformsOrigin: string;
    pixelfedOrigin: string;
    platformHosts: string;
    /** Origin of the webhook receivers. */
    webhooksOrigin: string;
    webhooksHost: string;
    /** Origin of the server of malformed responses. */
    malformedOrigin: string;
    malformedHost: string;
  }
}

interface Servers {
  context: Partial<ProvidedContext>;
  stop: () => Promise<void>;
}

/** Projects load this file separately, so what they share is global. */
declare global {
  var sightlineServers: { started: Promise<Servers>; users: number } | undefined;
}

/** Starts one engine and one server of each kind for the projects of the Worker's tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (globalThis.sightlineServers ??= { started: startServers(), users: 0 });
  shared.users++;
  const { context, stop } = await shared.started;
  for (const [key, value] of Object.entries(context)) {
    project.provide(key as keyof ProvidedContext, value);
  }
  return async () => {
    if (--shared.users === 0) await stop();
  };
}

async function startServers(): Promise<Servers> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-test-"));
  const leash = new ProcessSupervisor();
  const token = randomBytes(32).toString("base64url");
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const start = (name: string, args: string[], env: Record<string, string>) =>
    leash.supervise(startChild({ name, args, env, logFile: join(folder, `${name}.log`) }));
  const speechScript = join(folder, "speech.txt");
  await writeFile(speechScript, NARRATION.map(({ text }) => text).join("\n"));
  const engine = start("engine", ["local/engine/server.ts"], {
    ENGINE_PORT: String(port),
    ENGINE_TOKEN: token,
    SPEECH_SCRIPT: speechScript,
  });
  const videos = start("videos", ["test/setup/videos.ts", folder], {});
  const files = await startFileServer(folder);
  const platforms = await startPlatformServer(files.origin);
  const webhooks = await startWebhookServer();
  const malformed = await startMalformedServer();
  const servers = [files, platforms, webhooks, malformed];
  const stop = async () => {
    await Promise.all([leash.stopAll(), ...servers.map((server) => server.close())]);
    await rm(folder, { recursive: true });
  };
  const settled = new AbortController();
  try {
    const healthy = waitUntilHealthy(url, token, settled.signal);
    await Promise.all([Promise.race([healthy, rejectOnExit(engine)]), requireSuccess(videos)]);
  } catch (error) {
    await stop();
    throw error;
  } finally {
    settled.abort();
  }
  const context: Partial<ProvidedContext> = {
    engineUrl: url,
    engineToken: token,
    imageEmbeddingsUrl: `${url}/v1/embeddings`,
    keySecrets: `test:${randomBytes(48).toString("base64url")}`,
    filesOrigin: files.origin,
    filesHost: files.host,
    platformsOrigin: platforms.origin,
    pixelfedOrigin: platforms.pixelfedOrigin,
    platformHosts: platforms.hosts,
    webhooksOrigin: webhooks.origin,
    webhooksHost: webhooks.host,
    malformedOrigin: malformed.origin,
    malformedHost: malformed.host,
  };
  return { context, stop };
}

async function waitUntilHealthy(url: string, token: string, signal: AbortSignal): Promise<void> {
  for (const start = Date.now(); Date.now() - start < WATCHDOG_MS; await wait(POLL_MS)) {
    if (signal.aborted || (await isHealthy(url, token))) return;
  }
  throw new Error(`The engine did not answer within ${WATCHDOG_MS / 60_000} minutes.`);
}

async function rejectOnExit(child: Child): Promise<never> {
  throw new Error(await child.ended);
}

async function requireSuccess(child: Child): Promise<void> {
  const message = await child.ended;
  if (!child.succeeded()) throw new Error(message);
}

async function isHealthy(url: string, token: string): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${url}/health`, { headers })).ok;
  } catch {
    return false;
  }
}
