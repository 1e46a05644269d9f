import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sightline } from "sightline";
import { SCOPES } from "../src/keys.ts";
import { ingestFiles, type Ingested } from "./ingest-files.ts";
import type { MediaFile } from "./media-files.ts";
import { createKey } from "./stack/api-key.ts";
import { findFreePort } from "./stack/ports.ts";
import { ANY_BODY_BYTES, type StackOptions, startStack } from "./stack/stack.ts";
import type { SuiteOptions } from "./suite.ts";

/** A complete, empty service for one measurement. */
export interface Service {
  url: string;
  key: string;
  /** Account of the key. */
  account: string;
  /** Value of `KEY_SECRETS`. */
  keySecrets: string;
  sightline: Sightline;
  engine: { url: string; token: string };
  /** State folder, deleted with the service. */
  folder: string;
  /** Creates the index, uploads the files and waits until each is ready or has failed. */
  ingest: (indexName: string, files: MediaFile[]) => Promise<Ingested[]>;
}

const ACCOUNT = "bench";
/** A measurement sees what the service answers, however long that takes. */
const CLIENT_OPTIONS = { maxRetries: 0, timeoutMs: 10 * 60_000 };

/**
 * Runs `measure` against a new service, which takes bodies of any size and is stopped in every
 * case.
 */
export async function withService<T>(
  { log, signal }: Pick<SuiteOptions, "log" | "signal">,
  measure: (service: Service) => Promise<T>,
  stackOptions: Pick<StackOptions, "entry" | "inspect"> = {},
): Promise<T> {
  const stateDir = await mkdtemp(join(tmpdir(), "sightline-bench-"));
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  const stack = await startStack({
    port,
    enginePort,
    stateDir,
    log,
    signal,
    maxBodyBytes: ANY_BODY_BYTES,
    ...stackOptions,
  });
  try {
    const key = await createKey(stack.keySecrets, { account: ACCOUNT, scopes: [...SCOPES] });
    const sightline = new Sightline({ url: stack.url, apiKey: key, signal, ...CLIENT_OPTIONS });
    const ingest = async (indexName: string, files: MediaFile[]) => {
      await sightline.indices.create({ index_name: indexName });
      return ingestFiles(files, {
        sightline,
        indexName,
        serviceUrl: stack.url,
        stateFolder: stateDir,
        output: process.stderr,
      });
    };
    return await measure({
      url: stack.url,
      key,
      account: ACCOUNT,
      keySecrets: stack.keySecrets,
      sightline,
      engine: { url: stack.engineUrl, token: stack.engineToken },
      folder: stateDir,
      ingest,
    });
  } finally {
    await stack.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}
