import { UPLOADS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { listExpiredUploads, listReceivedUploads } from "../store/upload-lists.ts";
import type { Upload } from "../store/uploads.ts";
import { completeUpload } from "./complete-upload.ts";

/** Uploads per sweep that are completed, and that are removed. The next sweep takes more. */
const BATCH_SIZE = 50;

/**
 * Completes received uploads whose last request couldn't make the asset, and removes expired ones.
 * Returns the counts for the log.
 */
export async function sweepUploads(env: Env, now: number): Promise<Record<string, number>> {
  const settledBefore = now - UPLOADS.recoverAfterMs;
  const received = await listReceivedUploads(env.DB, settledBefore, BATCH_SIZE);
  let completedCount = 0;
  for (const upload of received) if (await succeeds(completeUpload, env, upload)) completedCount++;
  const expired = await listExpiredUploads(env.DB, now, settledBefore, BATCH_SIZE);
  let removedCount = 0;
  for (const upload of expired) if (await succeeds(removeUpload, env, upload)) removedCount++;
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
