import { uploadFile } from "../packages/sightline/upload.js";
import { toApiError } from "../shared/api-error.js";
import { apiPath } from "../shared/api-path.js";
import { api, apiText, apiTransport } from "../shared/api.js";
import { fingerprintOf, removeStoredUpload, storedUpload, storeUpload } from "./stored-uploads.js";

/** Pauses before retries; a request that sent bytes starts them anew. */
const RETRY_MS = [0, 1, 3, 5, 10, 20, 30, 60, 60, 60].map((seconds) => seconds * 1000);

/**
 * Uploads a file by its name in several requests (tus 1.0), and continues where an earlier upload of
 * the file stopped. Resolves to the asset. `onRetry` is called when a request failed and will be repeated.
 * Aborting the signal keeps what was sent. Throws an `ApiError`, or the signal's reason.
 */
export async function uploadResumably(index, file, { name, onProgress, onRetry, signal }) {
  const fingerprint = fingerprintOf(index, file);
  const stored = storedUpload(fingerprint);
  try {
    const asset = await uploadFile(apiTransport(), ["index", index], file, {
      name,
      resumeUrl: stored ?? undefined,
      onUrl: (url) => storeUpload(fingerprint, new URL(url, location.href).pathname),
      onProgress: (sent, total) => onProgress(sent / total),
      retryDelaysMs: RETRY_MS,
      onRetry,
      signal,
    });
    removeStoredUpload(fingerprint);
    return asset;
  } catch (cause) {
    const error = toApiError(cause);
    if (error.status === 415) await deleteUpload(fingerprint); // no other part is needed
    if (!stored || !isGone(error)) throw error;
    removeStoredUpload(fingerprint);
    return uploadResumably(index, file, { name, onProgress, onRetry, signal });
  }
}

/** Deletes an unfinished upload and what was sent of it. */
export async function deleteUpload(fingerprint) {
  const url = storedUpload(fingerprint);
  if (!url) return;
  try {
    await apiText("DELETE", uploadPath(url), { headers: { "Tus-Resumable": "1.0.0" } });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  removeStoredUpload(fingerprint);
}

/** Reads how much of a stored upload was sent (0 to 1). Null, and removed, if it is no more. */
export async function readSentShare({ fingerprint, url }) {
  try {
    const { state, offset, length } = await api("GET", uploadPath(url));
    if (state !== "complete") return offset / length;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  removeStoredUpload(fingerprint);
  return null;
}

/** Returns the target of an upload with a stored path. */
function uploadPath(url) {
  return apiPath(url.split("/").slice(1).map(decodeURIComponent));
}

function isGone({ status }) {
  return status === 404 || status === 410;
}
