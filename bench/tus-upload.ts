import type { ReadStream } from "node:fs";
import { Upload } from "tus-js-client";

const RETRY_MS = 500;
/** Retries without progress before the upload fails. */
const RETRIES = 240;

/** Uploads a file, or its bytes, by tus; returns the URL of the upload once it is complete. */
export function uploadByTus(
  file: Buffer | ReadStream,
  endpoint: string,
  key: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint,
      headers: { "X-API-Key": key },
      metadata: { filename: "large.mp4", filetype: "video/mp4" },
      retryDelays: Array.from({ length: RETRIES }, () => RETRY_MS),
      onError: reject,
      onSuccess: () => resolve(upload.url ?? ""),
    });
    upload.start();
  });
}
