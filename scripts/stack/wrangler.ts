import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What the `wrangler` command runs, without the process that the command puts before it. */
const SCRIPT = fileURLToPath(import.meta.resolve("wrangler"));
const CONFIG = "local/wrangler.toml";

/**
 * The runtime collects when V8 thinks it worth while: with these, when a heap has grown by a little, not by a
 * quarter of a gigabyte. They limit nothing. What the environment says instead counts.
 */
const HEAPS = "--initial-old-space-size=8 --max-semi-space-size=2 --memory-saver-mode";

/** Wrangler asks nothing, fetches nothing, traces nothing, and keeps what it writes in the state folder. */
export function wranglerEnv(folder: string): Record<string, string> {
  return {
    CI: "true",
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    MINIFLARE_WORKERD_V8_FLAGS: process.env["MINIFLARE_WORKERD_V8_FLAGS"] ?? HEAPS,
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_REGISTRY_PATH: join(folder, "registry"),
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_WRITE_LOGS: "false",
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
  };
}

export function migrateArgs(folder: string): string[] {
  const command = "d1 migrations apply DB --local".split(" ");
  return [SCRIPT, ...command, "--config", CONFIG, "--persist-to", folder];
}

/** A statement for D1: the local one in `folder`, or the deployed one where that is null. Prints JSON. */
export function executeArgs(sql: string, folder: string | null): string[] {
  const place =
    folder === null ? ["--remote"] : ["--local", "--config", CONFIG, "--persist-to", folder];
  return [SCRIPT, "d1", "execute", "DB", ...place, "--json", "--yes", "--command", sql];
}

/**
 * Secrets travel in a file, so that no process list shows them. `entry` is run in place of the
 * configuration's own.
 */
export function devArgs(folder: string, port: number, envFile: string, entry?: string): string[] {
  const options = {
    "--config": CONFIG,
    "--env-file": envFile,
    "--persist-to": folder,
    "--ip": "127.0.0.1",
    "--port": String(port),
    "--inspector-port": "0",
    "--show-interactive-dev-session": "false",
    "--log-level": "log",
  };
  return [SCRIPT, "dev", ...(entry ? [entry] : []), ...Object.entries(options).flat()];
}
