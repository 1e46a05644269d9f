import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { EngineError } from "./errors.ts";
import type { Call } from "./route.ts";

/** Reads the whole body into memory. Errors: `too_large`. */
export async function readBody(request: Call["request"], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of limitBody(request, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Streams the body to a file. Errors: `too_large`, `undecodable_media` if the body is empty. */
export async function saveBody(
  request: Call["request"],
  path: string,
  maxBytes: number,
): Promise<void> {
  const file = createWriteStream(path);
  await pipeline(limitBody(request, maxBytes), file);
  if (file.bytesWritten === 0) throw new EngineError("undecodable_media", "The file is empty.");
}

/** Yields a body's chunks. A request that is too large stays open, so the caller gets the error. */
async function* limitBody(request: Call["request"], maxBytes: number): AsyncGenerator<Buffer> {
  const tooLarge = new EngineError("too_large", `At most ${maxBytes} bytes are accepted.`);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge;
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError("A request is read as bytes.");
    size += chunk.length;
    if (size > maxBytes) throw tooLarge;
    yield chunk;
  }
}
