import { PAUSE_READS, pause } from "../../concurrency.ts";
import { AppError } from "../../errors.ts";
import { remember } from "../../isolate-memory.ts";
import { LruCache } from "../../lru-cache.ts";
import type { RangedFile } from "./mp4-boxes.ts";

const MIB = 1024 * 1024;
/** Bytes of a cached read. */
const BLOCK_BYTES = MIB;
/**
 * Blocks by object and position. Every part of an ingest opens the container and reads some again.
 */
const blocks = remember(new LruCache<Uint8Array>(8 * MIB, ({ length }) => length));

/** A stored object. */
export interface StoredFile extends RangedFile {
  /** Identifies the object and its bytes. */
  version: string;
  /** Streams from `start` up to `end`, of known length. */
  stream: (start: number, end: number) => Promise<ReadableStream<Uint8Array>>;
}

/**
 * Opens a stored object for reading in cached blocks. A range that is needed once is read on its
 * own, and so is one that is longer than a block, as of a large frame: blocks would take memory.
 * Other requests run between many reads.
 * Throws `source_missing` without the object.
 */
export async function openFile(bucket: R2Bucket, key: string): Promise<StoredFile> {
  const head = await bucket.head(key);
  if (!head) throw sourceMissing();
  const { size, etag } = head;
  const stream = async (offset: number, end: number) => {
    const length = Math.min(end, size) - offset;
    const object = await bucket.get(key, { range: { offset, length } });
    if (!object) throw sourceMissing();
    return object.body;
  };
  const readRange = async (offset: number, end: number) =>
    new Response(await stream(offset, end)).bytes();
  const version = `${key} ${etag}`;
  let reads = 0;
  return {
    size,
    version,
    stream,
    async read(start, requestedEnd, use) {
      const end = Math.min(size, requestedEnd);
      if (use === "once" || end - start > BLOCK_BYTES) return readRange(start, end);
      if (++reads % PAUSE_READS === 0) await pause();
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let block = Math.floor(start / BLOCK_BYTES); block * BLOCK_BYTES < end; block++) {
        const blockStart = block * BLOCK_BYTES;
        const blockBytes = await blocks.get(`${version} ${block}`, () =>
          readRange(blockStart, blockStart + BLOCK_BYTES),
        );
        const part = blockBytes.subarray(Math.max(0, start - blockStart), end - blockStart);
        bytes.set(part, Math.max(0, blockStart - start));
      }
      return bytes;
    },
  };
}

function sourceMissing(): AppError {
  return new AppError("source_missing", "The stored file is gone; send it again.");
}
