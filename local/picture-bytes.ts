import { aiError } from "./engine-client.ts";

/** The bytes of a picture's data URI; other addresses are refused, as production refuses plain HTTP. */
export function pictureBytes(url: string): Uint8Array {
  const data = /^data:image\/[\w.+-]+;base64,(.+)$/s.exec(url)?.[1];
  if (data === undefined) {
    throw aiError(`5004: Invalid data type for base64 input: ${url.slice(0, url.indexOf(":"))}`);
  }
  return Buffer.from(data, "base64");
}
