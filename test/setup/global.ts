import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { type Child, Leash, startChild } from "../../scripts/stack/child.ts";
import { findFreePort } from "../../scripts/stack/ports.ts";
import { startFileServer } from "./file-server.ts";
import { startHostileServer } from "./hostile-server.ts";
import { startPlatformServer } from "./platform-server.ts";
import { startWebhookServer } from "./webhook-server.ts";

const READY_MS = 120_000;
const LOOK_MS = 100;

declare module "vitest" {
  interface ProvidedContext {
    engineUrl: string;
    engineToken: string;
    pictureEmbeddingsUrl: string;
    /** As `KEY_SECRETS`. */
    keySecrets: string;
    /** Of the file server, without a slash at its end. */
    filesOrigin: string;
    /** The file server's `host:port`, as `FETCH_ALLOW`. */
    filesHost: string;
    /** Of the made-up platforms: PlatformServer. */
    platformsOrigin: string;
    pixelfedOrigin: string;
    platformHosts: string;
    /** Of the receivers of webhooks, likewise. */
    webhooksOrigin: string;
    webhooksHost: string;
    /** Of the server that keeps to nothing. */
    hostileOrigin: string;
    hostileHost: string;
  }
}

/** One engine and one file server for all tests; both end with the run, whatever ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-test-"));
  const leash = new Leash();
  const token = randomBytes(32).toString("base64url");
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const start = (name: string, args: string[], env: Record<string, string>) =>
    leash.hold(startChild({ name, args, env, logFile: join(folder, `${name}.log`) }));
  const engine = start("engine", ["local/engine/server.ts"], {
    ENGINE_PORT: String(port),
    ENGINE_TOKEN: token,
    LOCAL_LLM_URL: "",
    MODELS_DIR: folder,
  });
  const films = start("films", ["test/setup/films.ts", folder], {});
  const files = await startFileServer(folder);
  const platforms = await startPlatformServer(files.origin);
  const webhooks = await startWebhookServer();
  const hostile = await startHostileServer();
  const servers = [files, platforms, webhooks, hostile];
  const stop = async () => {
    await Promise.all([leash.end(), ...servers.map((server) => server.close())]);
    await rm(folder, { recursive: true });
  };
  const over = new AbortController();
  try {
    const healthy = untilHealthy(url, token, over.signal);
    await Promise.all([Promise.race([healthy, failing(engine)]), succeeding(films)]);
  } catch (error) {
    await stop();
    throw error;
  } finally {
    over.abort();
  }
  project.provide("engineUrl", url);
  project.provide("engineToken", token);
  project.provide("pictureEmbeddingsUrl", `${url}/v1/embeddings`);
  project.provide("keySecrets", `test:${randomBytes(48).toString("base64url")}`);
  project.provide("filesOrigin", files.origin);
  project.provide("filesHost", files.host);
  project.provide("platformsOrigin", platforms.origin);
  project.provide("pixelfedOrigin", platforms.pixelfedOrigin);
  project.provide("platformHosts", platforms.hosts);
  project.provide("webhooksOrigin", webhooks.origin);
  project.provide("webhooksHost", webhooks.host);
  project.provide("hostileOrigin", hostile.origin);
  project.provide("hostileHost", hostile.host);
  return stop;
}

async function untilHealthy(url: string, token: string, signal: AbortSignal): Promise<void> {
  for (const start = Date.now(); Date.now() - start < READY_MS; await wait(LOOK_MS)) {
    if (signal.aborted || (await isHealthy(url, token))) return;
  }
  throw new Error(`The engine did not answer within ${READY_MS / 1000} s.`);
}

async function failing(child: Child): Promise<never> {
  throw new Error(await child.ended);
}

async function succeeding(child: Child): Promise<void> {
  const why = await child.ended;
  if (!child.succeeded()) throw new Error(why);
}

async function isHealthy(url: string, token: string): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${url}/health`, { headers })).ok;
  } catch {
    return false;
  }
}
