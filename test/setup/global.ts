import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { type Child, ProcessSupervisor, startChild } from "../../tools/stack/child.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { startFileServer } from "./file-server.ts";
import { startMalformedServer } from "./malformed-server.ts";
import { NARRATION } from "./narration.ts";
import { startPlatformServer } from "./platform-server.ts";
import { startWebhookServer } from "./webhook-server.ts";

const READY_MS = 120_000;
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

/** Starts one engine and one server of each kind for all tests; they stop with the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
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
    LOCAL_LLM_URL: "",
    MODELS_DIR: folder,
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
  project.provide("engineUrl", url);
  project.provide("engineToken", token);
  project.provide("imageEmbeddingsUrl", `${url}/v1/embeddings`);
  project.provide("keySecrets", `test:${randomBytes(48).toString("base64url")}`);
  project.provide("filesOrigin", files.origin);
  project.provide("filesHost", files.host);
  project.provide("platformsOrigin", platforms.origin);
  project.provide("pixelfedOrigin", platforms.pixelfedOrigin);
  project.provide("platformHosts", platforms.hosts);
  project.provide("webhooksOrigin", webhooks.origin);
  project.provide("webhooksHost", webhooks.host);
  project.provide("malformedOrigin", malformed.origin);
  project.provide("malformedHost", malformed.host);
  return stop;
}

async function waitUntilHealthy(url: string, token: string, signal: AbortSignal): Promise<void> {
  for (const start = Date.now(); Date.now() - start < READY_MS; await wait(POLL_MS)) {
    if (signal.aborted || (await isHealthy(url, token))) return;
  }
  throw new Error(`The engine did not answer within ${READY_MS / 1000} s.`);
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
