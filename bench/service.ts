import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, openApi } from "../scripts/demo/api-client.ts";
import { createKey } from "../scripts/stack/api-key.ts";
import { ingestFiles, type Ingested } from "../scripts/demo/ingest.ts";
import type { MediaFile } from "../scripts/demo/media-files.ts";
import { findFreePort } from "../scripts/stack/ports.ts";
import { ProgressBars } from "../scripts/demo/progress.ts";
import { startStack } from "../scripts/stack/stack.ts";
import type { SuiteOptions } from "./suite.ts";

/** The whole service, with nothing in it, for one measurement. */
export interface Service {
  url: string;
  key: string;
  /** Of the key. */
  account: string;
  api: Api;
  engine: { url: string; token: string };
  /** A folder for this measurement, which goes with it. */
  folder: string;
  /** Makes the index, adds the files and waits until each has ended. */
  ingest: (indexName: string, files: MediaFile[]) => Promise<Ingested[]>;
}

const ACCOUNT = "bench";

/**
 * Runs `measure` against a service of its own, and ends it, whatever happens. `entry` is run in place of the
 * local Worker's own: a path in the project.
 */
export async function withService<T>(
  { log, signal }: Pick<SuiteOptions, "log" | "signal">,
  measure: (service: Service) => Promise<T>,
  entry?: string,
): Promise<T> {
  const stateDir = await mkdtemp(join(tmpdir(), "sightline-bench-"));
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  const stack = await startStack({
    port,
    enginePort,
    stateDir,
    log,
    signal,
    ...(entry !== undefined && { entry }),
  });
  try {
    const key = await createKey(stack.keySecrets, { account: ACCOUNT });
    const api = openApi(stack.url, key, signal);
    const ingest = async (indexName: string, files: MediaFile[]) => {
      await api.post("/index", { index_name: indexName });
      return ingestFiles(api, indexName, files, new ProgressBars(process.stderr));
    };
    return await measure({
      url: stack.url,
      key,
      account: ACCOUNT,
      api,
      engine: { url: stack.engineUrl, token: stack.engineToken },
      folder: stateDir,
      ingest,
    });
  } finally {
    await stack.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}
