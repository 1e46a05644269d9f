import { api, indexPath, keyHeader, toApiError } from "./api.js";
import { fingerprintOf, removeStoredUpload, storedUpload, storeUpload } from "./stored-uploads.js";

/** Bytes of a request: less than every Cloudflare plan accepts, more than the API's parts. */
const CHUNK_BYTES = 32 * 2 ** 20;
/** Pauses before retries; a request that sent bytes starts them anew. */
const RETRY_MS = [0, 1, 3, 5, 10, 20, 30, 60, 60, 60].map((seconds) => seconds * 1000);
const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * Uploads a file in several requests (tus 1.0), and continues where an earlier upload of the file
 * stopped. Resolves to the asset, as `upload` does. `onRetry` is called when a request failed and
 * will be repeated. Aborting the signal keeps what was sent. Throws an `ApiError`, or the signal's
 * reason.
 */
export async function uploadResumably(index, file, { onProgress, onRetry, signal }) {
  const fingerprint = fingerprintOf(index, file);
  const stored = storedUpload(fingerprint);
  try {
    const url = await sendBytes(file, {
      target: stored ? { uploadUrl: stored } : { endpoint: indexPath(index, "/uploads") },
      onUrl: (available) => storeUpload(fingerprint, available),
      onProgress,
      onRetry,
      signal,
    });
    const asset = await readAsset(index, url);
    removeStoredUpload(fingerprint);
    return asset;
  } catch (error) {
    if (!stored || !isGone(error)) throw error;
    removeStoredUpload(fingerprint);
    return uploadResumably(index, file, { onProgress, onRetry, signal });
  }
}

/** Deletes an unfinished upload and what was sent of it. */
export async function deleteUpload(fingerprint) {
  const url = storedUpload(fingerprint);
  if (!url) return;
  try {
    await api("DELETE", url, { headers: { "Tus-Resumable": "1.0.0" } });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  removeStoredUpload(fingerprint);
}

/** Reads how much of a stored upload was sent (0 to 1). Null, and removed, if it is no more. */
export async function readSentShare({ fingerprint, url }) {
  try {
    const { state, offset, length } = await api("GET", url);
    if (state !== "complete") return offset / length;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  removeStoredUpload(fingerprint);
  return null;
}

function isGone({ status }) {
  return status === 404 || status === 410;
}

/** Sends the bytes that are missing and resolves to the upload's path. */
async function sendBytes(file, { target, onUrl, onProgress, onRetry, signal }) {
  await import("./tus-js-client/tus.min.js");
  const { promise, resolve, reject } = Promise.withResolvers();
  signal.throwIfAborted();
  const upload = new globalThis.tus.Upload(file, {
    ...target,
    headers: keyHeader(),
    metadata: { filename: file.name },
    chunkSize: CHUNK_BYTES,
    retryDelays: RETRY_MS,
    storeFingerprintForResuming: false,
    onUploadUrlAvailable() {
      upload.url = new URL(upload.url, location.href).pathname;
      upload.options.endpoint = null; // else the client starts anew after any failed HEAD
      onUrl(upload.url);
    },
    onProgress: (sent, total) => onProgress(sent / total),
    onShouldRetry(failure) {
      const isRetryable = isTransient(toError(failure));
      if (isRetryable) onRetry();
      return isRetryable;
    },
    onSuccess: () => resolve(upload.url),
    onError: (failure) => reject(toError(failure)),
  });
  signal.addEventListener("abort", () => {
    void upload.abort();
    reject(signal.reason);
  });
  upload.start();
  return promise;
}

/** Converts an error of the client; one without a request is the client's own. */
function toError(failure) {
  const { originalRequest: request, originalResponse: response } = failure;
  if (!request) return failure;
  if (!response) return toApiError(0);
  return toApiError(response.getStatus(), response.getBody(), response.getHeader("Retry-After"));
}

/** Says whether to repeat a request: no response, a passing state, or a short rate limit. */
function isTransient({ status, retryAfter }) {
  if (status === 429) return retryAfter !== null && retryAfter <= MAX_RETRY_AFTER_SECONDS;
  return status === 0 || status === 409 || status >= 500;
}

/** Reads the asset of a completed upload. Throws what keeps the upload from becoming one. */
async function readAsset(index, url) {
  const { state, error, asset_type: type, asset_id: id, duplicate } = await api("GET", url);
  if (state !== "complete") throw new Error(error?.message ?? "The upload isn't complete.");
  const asset = await api("GET", indexPath(index, `/${type}/${id}`));
  return { ...asset, duplicate };
}
