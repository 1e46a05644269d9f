import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach } from "vitest";
import {
  cloudflareEnv,
  type CloudflareState,
  emptyState,
  startCloudflare,
} from "../../tools/fake-cloudflare/server.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import type { LoopbackServer } from "../../tools/stack/loopback.ts";
import { deploymentArgs, wranglerEnv } from "../../tools/stack/wrangler.ts";

export { ACCOUNT_ID, TOKEN } from "../../tools/fake-cloudflare/server.ts";

export interface CloudflareServer extends CloudflareState {
  /** Origin of the API. */
  origin: string;
  url: string;
}

/** Starts Cloudflare's API on loopback. Each test begins with an empty account. */
export function setUpCloudflare(): CloudflareServer {
  const state: CloudflareServer = { origin: "", url: "", ...emptyState() };
  let server: LoopbackServer;
  beforeAll(async () => {
    server = await startCloudflare(state);
    state.origin = server.origin;
    state.url = `${server.origin}/client/v4`;
  });
  beforeEach(() => {
    Object.assign(state, emptyState());
  });
  afterAll(() => server.close());
  return state;
}

interface CommandResult {
  stdout: string;
  stderr: string;
  status: number | null;
}

/** Links what `[build]` of `wrangler.toml` runs into the folder of a project, once. */
export function linkBuild(folder: string): void {
  for (const name of ["package.json", "scripts"]) {
    const link = join(folder, name);
    if (!existsSync(link)) symlinkSync(join(PROJECT, name), link);
  }
}

/** Runs a script in a process of its own, without a terminal, on the account of the server. */
export function runScript(
  server: CloudflareServer,
  folder: string,
  [script, ...args]: [script: string, ...args: string[]],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  return runNode(server, folder, [join(PROJECT, `scripts/${script}.ts`), ...args], env);
}

/** Runs Wrangler with the configuration of an environment, on the account of the server. */
export function runWrangler(
  server: CloudflareServer,
  folder: string,
  config: string,
  ...command: string[]
): Promise<CommandResult> {
  const env = wranglerEnv(join(folder, ".wrangler"));
  return runNode(server, folder, deploymentArgs(config, ...command), env);
}

async function runNode(
  { origin }: CloudflareServer,
  folder: string,
  args: string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...cloudflareEnv(origin), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { stdout, stderr, status: child.exitCode };
}
