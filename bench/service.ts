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
  api: Api;
  /** Makes the index, adds the files and waits until each has ended. */
  ingest: (indexName: string, files: MediaFile[]) => Promise<Ingested[]>;
}

/** Runs `measure` against a service of its own, and ends it, whatever happens. */
export async function withService<T>(
  { log, signal }: SuiteOptions,
  measure: (service: Service) => Promise<T>,
): Promise<T> {
  const stateDir = await mkdtemp(join(tmpdir(), "sightline-bench-"));
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  const stack = await startStack({ port, enginePort, stateDir, log, signal });
  try {
    const key = await createKey(stack.keySecrets, { account: "bench" });
    const api = openApi(stack.url, key, signal);
    const ingest = async (indexName: string, files: MediaFile[]) => {
      await api.post("/index", { index_name: indexName });
      return ingestFiles(api, indexName, files, new ProgressBars(process.stderr));
    };
    return await measure({ url: stack.url, key, api, ingest });
  } finally {
    await stack.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}
