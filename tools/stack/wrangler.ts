import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Script of the `wrangler` command; running it directly saves a process. */
const SCRIPT = fileURLToPath(import.meta.resolve("wrangler"));
const CONFIG = "local/wrangler.toml";

/**
 * V8 flags that make the runtime collect garbage when a heap has grown a little, instead of by 250
 * MB. They set no limit. The environment variable overrides them.
 */
const HEAP_FLAGS = "--initial-old-space-size=8 --max-semi-space-size=2 --memory-saver-mode";

/**
 * Returns an environment in which Wrangler asks nothing, fetches nothing, sends nothing, and writes
 * to the state folder only.
 */
export function wranglerEnv(folder: string): Record<string, string> {
  return {
    CI: "true",
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    MINIFLARE_WORKERD_V8_FLAGS: process.env["MINIFLARE_WORKERD_V8_FLAGS"] ?? HEAP_FLAGS,
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_REGISTRY_PATH: join(folder, "registry"),
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_WRITE_LOGS: "false",
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
  };
}

/** Returns arguments that apply the migrations to the local database in `folder`. */
export function migrateArgs(folder: string): string[] {
  const command = "d1 migrations apply DB --local".split(" ");
  return [SCRIPT, ...command, "--config", CONFIG, "--persist-to", folder];
}

/** Returns arguments that run a command on the deployment of a configuration file. */
export function deploymentArgs(config: string, ...command: string[]): string[] {
  return [SCRIPT, ...command, "--config", config];
}

/**
 * Returns arguments that run a statement on D1: the local one in a state folder, or the deployed
 * one of a configuration file. Prints JSON.
 */
export function executeArgs(
  sql: string,
  target: { folder: string } | { config: string },
): string[] {
  const command = ["d1", "execute", "DB", "--json", "--yes", "--command", sql];
  return "config" in target
    ? [...deploymentArgs(target.config, ...command), "--remote"]
    : [SCRIPT, ...command, "--local", "--config", CONFIG, "--persist-to", target.folder];
}
