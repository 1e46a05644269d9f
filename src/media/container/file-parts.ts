import { ALL_FORMATS, CustomSource, Input } from "mediabunny";
import type { TimeRange } from "../../time-range.ts";
import { emptyMoov, hasSamples, type Patch, sliceMoov } from "./moov-slice.ts";
import { findBox, findMoov, type RangedFile } from "./mp4-boxes.ts";
import { type ClockRange, findClocks } from "./transport-stream.ts";

/**
 * A part of a file that is read on its own: bytes with one clock (MPEG-TS), the samples that the
 * `moov` of an MP4 names, or the fragments after it. Most files have one part.
 */
export type FilePart = ClockRange | { kind: "samples" } | { kind: "fragments"; end: number };

/** Cache of one reader, besides the blocks that the isolate caches. */
const READER_CACHE_BYTES = 2 * 1024 * 1024;

export async function listParts(file: RangedFile): Promise<FilePart[]> {
  const clocks = await findClocks(file);
  if (clocks) return clocks;
  const moov = await findMoov(file);
  if (!moov || !findBox(moov, "mvex")) return [{ kind: "samples" }];
  const fragments: FilePart = { kind: "fragments", end: file.size };
  return (await hasSamples(file, moov)) ? [{ kind: "samples" }, fragments] : [fragments];
}

/**
 * Opens a part of a file to read a range of its stream, in seconds. The memory doesn't grow with
 * the length of the video. Packets outside of the range may be missing.
 */
export async function openPart(file: RangedFile, part: FilePart, range: TimeRange): Promise<Input> {
  const patch = await makePatch(file, part, range);
  const offset = part.kind === "bytes" ? part.start : 0;
  const size = part.kind === "samples" ? file.size : part.end;
  const source = new CustomSource({
    getSize: () => size - offset,
    read: (start, end) => readPatched(file, patch, start + offset, end + offset),
    maxCacheSize: READER_CACHE_BYTES,
    prefetchProfile: "fileSystem",
  });
  return new Input({ source, formats: ALL_FORMATS });
}

async function makePatch(file: RangedFile, { kind }: FilePart, range: TimeRange) {
  if (kind === "samples") return sliceMoov(file, range);
  const moov = kind === "fragments" ? await findMoov(file) : null;
  return moov && (await hasSamples(file, moov)) ? emptyMoov(file, moov) : null;
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
