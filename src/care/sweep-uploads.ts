import { UPLOADS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { listOverUploads, listReceivedUploads } from "../store/upload-lists.ts";
import type { Upload } from "../store/uploads.ts";
import { finishUpload } from "./finish-upload.ts";

/** Of each kind, in one sweep: the next one takes more. */
const AT_ONCE = 50;

/**
 * Makes assets of uploads of which all has come, where the request that brought the last byte couldn't, and
 * ends those whose time is over.
 */
export async function sweepUploads(env: Env, now: number): Promise<Record<string, number>> {
  const settled = now - UPLOADS.unheardMs;
  const received = await listReceivedUploads(env.DB, settled, AT_ONCE);
  let finished = 0;
  for (const upload of received) if (await tryTo(finishUpload, env, upload)) finished++;
  const over = await listOverUploads(env.DB, now, settled, AT_ONCE);
  let ended = 0;
  for (const upload of over) if (await tryTo(removeUpload, env, upload)) ended++;
  return { uploads_finished: finished, uploads_ended: ended };
}

/** One that fails stops no other; the next sweep tries it again. */
async function tryTo(
  act: (env: Env, upload: Upload) => Promise<unknown>,
  env: Env,
  upload: Upload,
): Promise<boolean> {
  try {
    await act(env, upload);
    return true;
  } catch (error) {
    const { uploadId } = upload;
    // An account that has no room now may have some later.
    const isFull = error instanceof AppError;
    if (!isFull) log("warn", "care.upload_stuck", { upload: uploadId, cause: traceOf(error) });
    return false;
  }
}
