import { Upload } from "tus-js-client";

const RETRY_MS = 500;
const RETRIES = 240; // without getting on

/** Resolves to the upload's address once all has come. */
export function sendByTus(bytes: Buffer, endpoint: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
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
