import { AppError } from "../../errors.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { openFile } from "../container/r2-file.ts";

/** A file that is read in parts, or streamed from `start` up to `end`. */
export interface ImageFile extends RangedFile {
  stream: (start: number, end: number) => Promise<ReadableStream<Uint8Array>>;
}

/** Opens a stored image. Throws `source_missing` without it. */
export async function openImage(bucket: R2Bucket, key: string): Promise<ImageFile> {
  const { size, read } = await openFile(bucket, key);
  const stream = async (start: number, end: number) => {
    const range = { offset: start, length: Math.min(end, size) - start };
    const object = await bucket.get(key, { range });
    if (!object) throw new AppError("source_missing", "The stored file is gone; send it again.");
    return object.body;
  };
  return { size, read, stream };
}

/** Makes a file of bytes that are in memory. */
export function imageOfBytes(bytes: Uint8Array): ImageFile {
  const part = (start: number, end: number) => bytes.subarray(start, Math.max(start, end));
  return {
    size: bytes.length,
    read: async (start, end) => part(start, end),
    stream: async (start, end) => new Response(part(start, end)).body!,
  };
}
