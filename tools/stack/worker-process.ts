/**
 * Runs the local Worker until SIGTERM, behind the front. Reads its settings, a `WorkerSettings` as
 * JSON, from the environment variable WORKER_SETTINGS.
 */
import { unstable_startWorker } from "wrangler";
import { createFront } from "./front.ts";

export interface WorkerSettings {
  stateDir: string;
  envFile: string;
  /** Port of the front on 127.0.0.1. */
  port: number;
  maxBodyBytes: number;
  /** Entry instead of the configured one. */
  entry?: string;
  /** Folder of the console instead of its sources. */
  assets?: string;
  /**
   * Opens the runtime's inspector, with which any local program can read the Worker's memory and
   * secrets.
   */
  inspect: boolean;
}

const CONFIG = "local/wrangler.toml";
const MINUTE_MS = 60_000;
const { stateDir, envFile, port, maxBodyBytes, entry, assets, inspect } = JSON.parse(
  process.env["WORKER_SETTINGS"] ?? "{}",
) as WorkerSettings;

const worker = await unstable_startWorker({
  config: CONFIG,
  ...(entry !== undefined && { entrypoint: entry }),
  ...(assets !== undefined && { assets }),
  envFiles: [envFile],
  dev: {
    inspector: inspect && { port: 0 },
    server: { hostname: "127.0.0.1", port: 0 },
    persist: stateDir,
    logLevel: "warn", // the front logs requests
    structuredLogsHandler: ({ message }: { message: string }) => console.log(message),
  },
});
await worker.ready;
const { port: runtimePort } = await worker.url;
const front = createFront({
  runtimePort: Number(runtimePort),
  maxBodyBytes,
  onRequest: (line) => console.log(line),
});
front.listen(port, "127.0.0.1");

/** Ignores that the runtime has stopped: a cron trigger is lost, as in production. */
function ignoreStopped(): void {}

/** Runs the Worker's cron trigger, since the local runtime has no scheduler. */
const runScheduled = () =>
  void fetch(`http://127.0.0.1:${runtimePort}/cdn-cgi/local/scheduled`).catch(ignoreStopped);
setInterval(runScheduled, MINUTE_MS);
process.on("SIGUSR2", runScheduled);
process.on("SIGTERM", () => {
  front.close();
  front.closeAllConnections();
  void worker.dispose().finally(() => process.exit(0));
});
