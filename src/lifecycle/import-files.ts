import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { download } from "../fetching/download.ts";
import type { AssetLine } from "../ingest/archive-line.ts";
import { checkArchivedFile } from "../ingest/archived-file.ts";
import { storeSource } from "../ingest/steps/fetch.ts";
import { storeWorkingCopy } from "../ingest/steps/merge-parts.ts";
import { probeMedia } from "../media/container/open-container.ts";
import { updateProperties } from "../store/d1/assets.ts";
import type { ArchiveRecord } from "../store/r2/archive-record.ts";
import {
  assetPrefix,
  headObject,
  listObjects,
  mediaKey,
  putImportedFile,
  sourceKey,
} from "../store/r2/object-keys.ts";
import type { Asset } from "../types.ts";
import { workingCopyOf } from "../working-copy.ts";
import { type Checkpoint, inBatches } from "./slice.ts";

/** Whether an archive names the source file. */
export const hasSource = (files: AssetLine["files"]) => files.some(({ path }) => path === "source");

/**
 * Fetches the files that aren't stored yet, and checks them. Throws what `download`, `storeSource`,
 * `checkArchivedFile` and `checkSource` throw.
 */
export async function importFiles(
  { env, checkpoint }: { env: Env; checkpoint: Checkpoint },
  asset: Asset,
  { record, files }: AssetLine,
): Promise<void> {
  const prefix = assetPrefix(asset);
  const stored = new Set((await listObjects(env.MEDIA, prefix)).map(({ key }) => key));
  const missing = files.filter(({ path }) => !stored.has(prefix + path));
  await inBatches(missing, CONNECTIONS, checkpoint, async (batch) => {
    await mapConcurrent(batch, CONNECTIONS, async ({ path, url }) => {
      if (path === "source") {
        const chunks = download(url, env.FETCH_ALLOW, record.size_bytes);
        await storeSource(env.MEDIA, asset, chunks, record.sha256);
      } else if (path === "working-copy") {
        const { bytes = 0 } = workingCopyOf(record) ?? {};
        await storeWorkingCopy(env.MEDIA, asset, download(url, env.FETCH_ALLOW, bytes));
      } else {
        const bytes: Uint8Array[] = [];
        for await (const chunk of download(url, env.FETCH_ALLOW, LIMITS.archiveFileBytes)) {
          bytes.push(chunk);
        }
        const checked = checkArchivedFile(record, path, Uint8Array.from(Buffer.concat(bytes)));
        await putImportedFile(env.MEDIA, asset, path, checked);
      }
    });
  });
  if (hasSource(files)) await checkSource(env, asset, record);
}

/** Greatest difference between the length of a file and the length in its record. */
const LENGTH_TOLERANCE_MS = 1000;

/**
 * Checks that the stored file is the one that the record describes, and records its type. Throws
 * `download_refused`, and what `probeMedia` throws.
 */
async function checkSource(env: Env, asset: Asset, record: ArchiveRecord): Promise<void> {
  const { technical } = record;
  const { size = 0, httpMetadata } = (await headObject(env.MEDIA, sourceKey(asset))) ?? {};
  const lengthMs =
    asset.assetType === "video"
      ? 1000 * (await probeMedia(env.MEDIA, mediaKey({ ...asset, technical }))).durationSeconds
      : 0;
  const isLength = Math.abs(lengthMs - record.duration_ms) <= LENGTH_TOLERANCE_MS;
  if (size !== record.size_bytes || !isLength) {
    throw new AppError("download_refused", "The file has another size or length than its record.");
  }
  const { contentType = "application/octet-stream" } = httpMetadata ?? {};
  await updateProperties(env.DB, asset.assetId, { contentType });
}
