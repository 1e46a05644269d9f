import { AppError } from "../../errors.ts";
import { LruCache } from "../../lru-cache.ts";
import type { RangedFile } from "./mp4-boxes.ts";

const MIB = 1024 * 1024;
/** Bytes of one ranged read. */
const BLOCK_BYTES = MIB;
/**
 * Blocks by object and position. Every part of an ingest opens the container and reads some again.
 */
const blocks = new LruCache<Uint8Array>(8 * MIB, ({ length }) => length);

/**
 * Opens a stored object for reading in cached blocks. Throws `source_missing` without the object.
 */
export async function openFile(bucket: R2Bucket, key: string): Promise<RangedFile> {
  const head = await bucket.head(key);
  if (!head) throw sourceMissing();
  const { size, etag } = head;
  const readBlock = (block: number) =>
    blocks.get(`${key} ${etag} ${block}`, async () => {
      const offset = block * BLOCK_BYTES;
      const length = Math.min(BLOCK_BYTES, size - offset);
      const object = await bucket.get(key, { range: { offset, length } });
      if (!object) throw sourceMissing();
      return new Uint8Array(await object.arrayBuffer());
    });
  return {
    size,
    async read(start, requestedEnd) {
      const end = Math.min(size, requestedEnd);
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let block = Math.floor(start / BLOCK_BYTES); block * BLOCK_BYTES < end; block++) {
        const blockStart = block * BLOCK_BYTES;
        const blockBytes = await readBlock(block);
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
