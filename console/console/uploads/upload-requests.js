import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

/** Files of this size are sent in parts: most Cloudflare plans refuse bodies over 100 MB. */
const RESUMABLE_FROM_BYTES = 50_000_000;
/** Status of a file that isn't of the type of its operation. */
const WRONG_TYPE = 415;

/**
 * Whether an upload is sent in parts, and can be paused. What sends them is loaded when needed. It
 * is also how the service decides by the bytes of a file whether that is a video or an image.
 */
export function isResumable({ file, type }) {
  return file !== undefined && (type === null || file.size >= RESUMABLE_FROM_BYTES);
}

/** Sends the file or the URL of an upload and resolves to the asset. */
export async function sendUpload(index, item, { onProgress, onRetry, signal }) {
  const { file, path, type, url } = item;
  if (isResumable(item)) {
    const { uploadResumably } = await import("./resumable-upload.js");
    return await uploadResumably(index, file, { name: path, onProgress, onRetry, signal });
  }
  const target = indexPath(index, [type], file ? {} : { [`${type}_url`]: url });
  if (!file) return await api("POST", target, { signal });
  try {
    return await api("POST", target, { form: formOf(item), onProgress, signal });
  } catch (error) {
    if (error.status !== WRONG_TYPE) throw error;
    item.type = null; // the guess was wrong
    return await sendUpload(index, item, { onProgress, onRetry, signal });
  }
}

/** Deletes what was sent of an upload, if it was sent in parts. */
export async function deleteSent({ fingerprint }) {
  if (fingerprint) await (await import("./resumable-upload.js")).deleteUpload(fingerprint);
}

/** Reads how much of a stored upload was sent (0 to 1); null if it is no more. */
export async function readSentShare(stored) {
  return await (await import("./resumable-upload.js")).readSentShare(stored);
}

function formOf({ file, path, type, transcript }) {
  const form = new FormData();
  if (transcript) form.append("transcript", transcript);
  form.append(`${type}_file`, file, path);
  return form;
}
