import { AppError } from "../errors.ts";
import type { RangedFile } from "./mp4-boxes.ts";
import { RecentRanges } from "./recent-ranges.ts";

const MIB = 1024 * 1024;
/** What is read of a file at once. */
const BLOCK = MIB;
/** Every part of an ingest opens the container, and neighbours read the same of it. */
const recent = new RecentRanges(16 * MIB);

/** A stored object, read in blocks of which this isolate keeps the latest. Throws `source_missing` where it is gone. */
export async function openFile(bucket: R2Bucket, key: string): Promise<RangedFile> {
  const head = await bucket.head(key);
  if (!head) throw missing();
  const { size, etag } = head;
  const readBlock = (block: number) =>
    recent.get(`${key} ${etag} ${block}`, async () => {
      const offset = block * BLOCK;
      const length = Math.min(BLOCK, size - offset);
      const object = await bucket.get(key, { range: { offset, length } });
      if (!object) throw missing();
      return new Uint8Array(await object.arrayBuffer());
    });
  return {
    size,
    async read(start, until) {
      const end = Math.min(size, until);
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let block = Math.floor(start / BLOCK); block * BLOCK < end; block++) {
        const from = block * BLOCK;
        const read = await readBlock(block);
        const part = read.subarray(Math.max(0, start - from), end - from);
        bytes.set(part, Math.max(0, from - start));
      }
      return bytes;
    },
  };
}

function missing(): AppError {
  return new AppError("source_missing", "The stored file is gone; send it again.");
}
