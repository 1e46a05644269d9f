import { ADTS, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from "mediabunny";
import type { TimeRange } from "../../time-range.ts";
import { GuardedSource } from "./guarded-source.ts";
import { type Patch, requireSmallMoov, sliceMoov } from "./moov-slice.ts";
import { findMoov, type RangedFile } from "./mp4-boxes.ts";

/**
 * All of mediabunny but HLS, which is a playlist of other files, and MPEG-TS, whose clocks restart
 * and whose pictures are stored as fields: the decoder reads it.
 */
const FORMATS = [MP4, QTFF, MATROSKA, WEBM, WAVE, OGG, FLAC, MP3, ADTS];

/** Cache of one reader, besides the blocks that the isolate caches. */
const READER_CACHE_BYTES = 2 * 1024 * 1024;

/**
 * Opens the first `size` bytes of a file to read a range of its stream, in seconds. The memory
 * doesn't grow with the length of the video. Packets outside of the range may be missing.
 */
export async function openInput(file: RangedFile, size: number, range: TimeRange): Promise<Input> {
  const patch = await sliceMoov(file, range);
  const unchanged = patch ? null : await findMoov(file);
  if (unchanged) await requireSmallMoov(file, unchanged);
  const source = new GuardedSource({
    getSize: () => size,
    read: (start, end) => readPatched(file, patch, start, end),
    maxCacheSize: READER_CACHE_BYTES,
    prefetchProfile: "fileSystem",
  });
  const input = new Input({ source, formats: FORMATS });
  await input.getTracks();
  source.endOpening();
  return input;
}

async function readPatched(file: RangedFile, patch: Patch | null, start: number, end: number) {
  if (!patch || end <= patch.start || start >= patch.end) return file.read(start, end);
  const bytes = new Uint8Array(end - start);
  const put = (part: Uint8Array, at: number) => bytes.set(part, at - start);
  if (start < patch.start) put(await file.read(start, patch.start), start);
  if (end > patch.end) put(await file.read(patch.end, end), patch.end);
  const from = Math.max(start, patch.start);
  put(patch.bytes.subarray(from - patch.start, end - patch.start), from);
  return bytes;
}
