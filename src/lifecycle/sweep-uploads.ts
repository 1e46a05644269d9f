import { UPLOADS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { listExpiredUploads, listReceivedUploads } from "../store/d1/upload-lists.ts";
import type { Upload } from "../store/d1/uploads.ts";
import { removeUpload } from "../store/stored-uploads.ts";
import { completeUpload } from "./complete-upload.ts";

/** Uploads per sweep that are completed, and that are removed. The next sweep takes more. */
const BATCH_SIZE = 50;

/** Works on items at the same time, until the calls of the slice are used up. */
export type ForEach = <Item>(
  items: Item[],
  work: (item: Item) => Promise<unknown>,
) => Promise<unknown>;

/**
 * Completes received uploads whose last request couldn't make the asset, and removes expired ones.
 * `forEach` may leave some to the next sweep. Returns the counts for the log.
 */
export async function sweepUploads(
  env: Env,
  now: number,
  forEach: ForEach,
): Promise<Record<string, number>> {
  const settledBefore = now - UPLOADS.recoverAfterMs;
  const received = await listReceivedUploads(env.DB, settledBefore, BATCH_SIZE);
  let completedCount = 0;
  await forEach(received, async (upload) => {
    if (await succeeds(completeUpload, env, upload)) completedCount++;
  });
  const expired = await listExpiredUploads(env.DB, now, settledBefore, BATCH_SIZE);
  let removedCount = 0;
  await forEach(expired, async (upload) => {
    if (await succeeds(removeUpload, env, upload)) removedCount++;
  });
  return { uploads_completed: completedCount, uploads_removed: removedCount };
}

/** Returns false after an error, so that other uploads go on. The next sweep retries. */
async function succeeds(
  handle: (env: Env, upload: Upload) => Promise<unknown>,
  env: Env,
  upload: Upload,
): Promise<boolean> {
  try {
    await handle(env, upload);
    return true;
  } catch (error) {
    const { uploadId } = upload;
    // An account over its quota may have less usage later.
    const isExpected = error instanceof AppError;
    if (!isExpected)
      log("warn", "lifecycle.upload_stuck", { upload: uploadId, cause: traceOf(error) });
    return false;
  }
}
