import { aiError } from "./engine-client.ts";

/** Decodes an image's data URI. Other URLs are rejected, as production rejects plain HTTP. */
export function imageBytes(url: string): Uint8Array {
  const data = /^data:image\/[\w.+-]+;base64,(.+)$/s.exec(url)?.[1];
  if (data === undefined) {
    throw aiError(`5004: Invalid data type for base64 input: ${url.slice(0, url.indexOf(":"))}`);
  }
  return Buffer.from(data, "base64");
}
