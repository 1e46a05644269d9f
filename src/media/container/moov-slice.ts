import { AppError } from "../../errors.ts";
import type { TimeRange } from "../../time-range.ts";
import { requireWithinBudget } from "../structure-budget.ts";
import {
  EMPTY_EDIT,
  makeEditBox,
  NORMAL_RATE,
  readEdit,
  type Mp4Box,
  findBox,
  findMoov,
  readContent,
  makeBox,
  readHandler,
  readTimescale,
  type RangedFile,
  rewriteBox,
  toDataView,
  topLevelBoxes,
} from "./mp4-boxes.ts";

/** Replaces the bytes of a file from `start` to `end` (offsets) by `bytes`, then zeros. */
export interface Patch {
  start: number;
  end: number;
  bytes: Uint8Array;
}

/** Margin around the range: frames are stored in another order than they are presented. */
const MARGIN_SECONDS = 10;
/** Handler types of the tracks that stay: video and audio. */
const HANDLERS = new Set(["vide", "soun"]);

/**
 * Makes a `moov` box that indexes only the samples of a time range. The `moov` of an MP4 names
 * every sample, and a reader holds all of it in memory: tens of megabytes for a video of hours.
 * The slice has every video and audio track from the sync sample before the range on, with the
 * same times and offsets, and its size and memory don't grow with the length of the video. Returns
 * null without a usable `moov` (no MP4, one without samples or a damaged one): the file is read
 * unchanged then. Fragments after the `moov` aren't read. Source: ISO/IEC 14496-12, 8.6 and 8.7.
 */
export async function sliceMoov(file: RangedFile, range: TimeRange): Promise<Patch | null> {
  try {
    const moov = await findMoov(file);
    const header = moov && findBox(moov, "mvhd");
    if (!header || !(await hasSamples(file, moov))) return null;
    const timescale = await readTimescale(file, header);
    const replacements = new Map<Mp4Box, Uint8Array | null>();
    for (const box of moov.children) {
      if (box === header) continue;
      const isMedia = await isMediaTrack(file, box);
      replacements.set(box, isMedia ? await sliceTrack(file, box, timescale, range) : null);
    }
    return toPatch(moov, await rewriteBox(file, moov, replacements));
  } catch (error) {
    if (error instanceof RangeError) return null; // a table is truncated or missing
    throw error;
  }
}

/** Tables whose entries begin with a number of samples, or of a chunk, by bytes of an entry. */
const COUNTS = { stts: 8, stsc: 12 };

/**
 * Throws `too_large` for a `moov` that is too large to be read as it is, and for one whose tables,
 * wherever the container library finds them, promise too much.
 */
export async function requireSmallMoov(file: RangedFile, { contentStart, end }: Mp4Box) {
  requireWithinBudget("bytes in its index besides samples", end - contentStart);
  const bytes = Buffer.from(await file.read(contentStart, end));
  for (const [type, entryBytes] of Object.entries(COUNTS)) {
    for (let at = -1; (at = bytes.indexOf(type, at + 1)) >= 0;) {
      const count = at + 12 <= bytes.length ? bytes.readUInt32BE(at + 8) : 0;
      const last = Math.min(bytes.length - 4, at + 12 + (count - 1) * entryBytes);
      let promised = 0;
      for (let entry = at + 12; entry <= last; entry += entryBytes) {
        const number = bytes.readUInt32BE(entry);
        promised = type === "stts" ? promised + number : Math.max(promised, number);
      }
      requireWithinBudget("samples in its damaged index", promised);
    }
  }
}

/** Whether a `moov` names samples. A fragmented file has others outside of it. */
export async function hasSamples(file: RangedFile, moov: Mp4Box): Promise<boolean> {
  for (const track of moov.children) {
    const sizes = findBox(track, "mdia", "minf", "stbl", "stsz");
    if (!sizes || !(await isMediaTrack(file, track))) continue;
    if ((await readContent(file, sizes, 8, 12)).getUint32(0) > 0) return true;
  }
  return false;
}

/** Puts the new `moov` in place of the old one, with a `free` box for the rest of its bytes. */
function toPatch({ start, end }: Mp4Box, moov: Uint8Array): Patch | null {
  const freeBytes = end - start - moov.length;
  if (freeBytes < 8) return null;
  const header = makeBox("free");
  toDataView(header).setUint32(0, freeBytes);
  return { start, end, bytes: Buffer.concat([moov, header]) };
}

export async function isMediaTrack(file: RangedFile, box: Mp4Box): Promise<boolean> {
  return box.type === "trak" && HANDLERS.has((await readHandler(file, box)) ?? "");
}

/**
 * Returns a `trak` box for the samples of a range. Throws `RangeError` for missing or bad tables,
 * and what `readEdit` throws.
 */
async function sliceTrack(
  file: RangedFile,
  track: Mp4Box,
  movieTimescale: number,
  range: TimeRange,
): Promise<Uint8Array> {
  const timescale = await readTimescale(file, requirePresent(findBox(track, "mdia", "mdhd")));
  const tables = requirePresent(findBox(track, "mdia", "minf", "stbl"));
  requireOneTable(track);
  const [times, syncSamples] = [requirePresent(findBox(tables, "stts")), findBox(tables, "stss")];
  const { mediaTime, delay } = await readEdit(file, track);
  const toMediaTime = (seconds: number) =>
    (seconds - delay / movieTimescale) * timescale + mediaTime;
  const first = await sampleAt(file, times, toMediaTime(range.start - MARGIN_SECONDS));
  const last = await sampleAt(file, times, toMediaTime(range.end + MARGIN_SECONDS));
  const from = syncSamples ? await syncSampleAt(file, syncSamples, first) : first;
  let slice = await sliceTables(file, tables, { from, to: last + 1 });
  if (mediaTime - slice.skippedTime === EMPTY_EDIT) {
    // A `media_time` of −1 would read as an empty edit: start one sample earlier.
    slice = await sliceTables(file, tables, { from: slice.from - 1, to: last + 1 });
  }
  const replacements = new Map(slice.replacements);
  const editBox = makeEditBox([
    { duration: delay, mediaTime: EMPTY_EDIT, rate: NORMAL_RATE },
    { duration: 0, mediaTime: mediaTime - slice.skippedTime, rate: NORMAL_RATE },
  ]);
  const oldEditBox = findBox(track, "edts");
  if (oldEditBox) replacements.set(oldEditBox, editBox);
  const rewritten = await rewriteBox(file, track, replacements);
  return oldEditBox ? rewritten : makeBox("trak", editBox, rewritten.subarray(8));
}

/** Throws `RangeError` for a track with several sets of tables: which one counts isn't known. */
function requireOneTable(track: Mp4Box): void {
  if (countTables(track) > 1) throw new RangeError("the track has several tables");
}

function countTables({ type, children }: Mp4Box): number {
  return children.reduce((sum, child) => sum + countTables(child), type === "stbl" ? 1 : 0);
}

/**
 * Makes sample tables for the chunks that hold these samples. `from` is the first sample of the
 * chunks, `skippedTime` the duration of the samples before it, in units of the track.
 */
async function sliceTables(file: RangedFile, tables: Mp4Box, range: SampleRange) {
  const table = (type: string) => findBox(tables, type);
  const offsets = requirePresent(table("stco") ?? table("co64"));
  const chunkCount = (await readContent(file, offsets, 4, 8)).getUint32(0);
  const { entries, chunks, samples } = await sliceChunks(
    file,
    requirePresent(table("stsc")),
    chunkCount,
    range,
  );
  if (entries.length === 0) throw new RangeError("no chunk holds these samples");
  if (table("ctts"))
    requireWithinBudget("samples between two keyframes", samples.to - samples.from);
  const times = await sliceRuns(file, requirePresent(table("stts")), samples);
  const replacements = new Map<Mp4Box, Uint8Array | null>(
    tables.children.map((child) => [child, null]),
  );
  const replace = (box: Mp4Box | undefined, count: number, ...parts: (Uint8Array | number[])[]) => {
    if (box) replacements.set(box, makeBox(box.type, [0, count], ...parts));
  };
  replacements.delete(requirePresent(table("stsd")));
  replace(table("stts"), times.entries.length / 2, times.entries);
  replace(table("stsc"), entries.length / 3, entries);
  const offsetBytes = offsets.type === "co64" ? 8 : 4;
  const chunkOffsets = await sliceEntries(file, offsets, 8, offsetBytes, chunks);
  replace(offsets, chunks.to - chunks.from, chunkOffsets);
  const sizes = requirePresent(table("stsz"));
  const commonSize = (await readContent(file, sizes, 4, 8)).getUint32(0);
  const sampleSizes = commonSize === 0 ? await sliceEntries(file, sizes, 12, 4, samples) : [];
  const sizeHeader = [0, commonSize, samples.to - samples.from];
  replacements.set(sizes, makeBox("stsz", sizeHeader, sampleSizes));
  const [syncSamples, compositionOffsets] = [table("stss"), table("ctts")];
  if (syncSamples) {
    const numbers = await sliceSyncSamples(file, syncSamples, samples);
    replace(syncSamples, numbers.length, numbers);
  }
  if (compositionOffsets) {
    const runs = await sliceRuns(file, compositionOffsets, samples);
    replace(compositionOffsets, runs.entries.length / 2, runs.entries);
  }
  return { replacements, skippedTime: times.sumBefore, from: samples.from };
}

/** Reads entries of a table unchanged. Throws `RangeError` if the table ends before. */
async function sliceEntries(
  file: RangedFile,
  table: Mp4Box,
  headerBytes: number,
  entryBytes: number,
  { from, to }: SampleRange,
): Promise<Uint8Array> {
  requireWithinBudget("samples between two keyframes", to - from);
  const start = headerBytes + from * entryBytes;
  const view = await readContent(file, table, start, headerBytes + to * entryBytes);
  if (view.byteLength < (to - from) * entryBytes) throw new RangeError(`${table.type} is cut off`);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function requirePresent<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new RangeError("a table is missing");
  return value;
}

/** Samples or chunks of a track, counted from 0. `to` is exclusive. */
interface SampleRange {
  from: number;
  to: number;
}

/** A table is read in blocks of about this size. */
const BLOCK_BYTES = 256 * 1024;

/** Bytes before the entries of a table: version, flags and their number. */
const headerBytesOf = ({ type }: Mp4Box) => (type === "stsz" ? 12 : 8);

/** Visits the entries of a table in order, until `visit` returns true or the table ends. */
async function forEachEntry(
  file: RangedFile,
  table: Mp4Box,
  entryBytes: number,
  visit: (view: DataView, at: number) => boolean,
): Promise<void> {
  const headerBytes = headerBytesOf(table);
  const count = (await readContent(file, table, headerBytes - 4, headerBytes)).getUint32(0);
  const end = headerBytes + count * entryBytes;
  const blockBytes = Math.floor(BLOCK_BYTES / entryBytes) * entryBytes;
  for (let from = headerBytes; from < end; from += blockBytes) {
    const view = await readContent(file, table, from, Math.min(end, from + blockBytes));
    for (let at = 0; at + entryBytes <= view.byteLength; at += entryBytes) {
      if (visit(view, at)) return;
    }
    if (view.byteLength < blockBytes) return;
  }
}

/** Bytes of an entry of each table of samples. */
const ENTRY_BYTES = { stts: 8, ctts: 8, stss: 4, stsc: 12, stco: 4, co64: 8, stsz: 4 } as const;

/**
 * Throws `too_large` for more samples than a track may have, and for tables that promise more
 * entries than there are bytes for, in the table or as samples of a common size.
 */
export async function requireBackedTables(
  file: RangedFile,
  tables: readonly Mp4Box[],
  isVideo: boolean,
): Promise<void> {
  for (const table of tables) {
    if (!Object.hasOwn(ENTRY_BYTES, table.type)) continue;
    const entryBytes = ENTRY_BYTES[table.type as keyof typeof ENTRY_BYTES];
    const headerBytes = headerBytesOf(table);
    const header = await readContent(file, table, 4, headerBytes);
    if (header.byteLength < headerBytes - 4) continue;
    const count = header.getUint32(headerBytes - 8);
    if (isVideo) requireWithinBudget("samples in a track", count);
    const commonBytes = table.type === "stsz" ? header.getUint32(0) : 0;
    const isBacked =
      commonBytes > 0
        ? await areBacked(file, count, commonBytes, isVideo)
        : headerBytes + count * entryBytes <= table.end - table.contentStart;
    if (isBacked) continue;
    throw new AppError(
      "too_large",
      `The file promises ${count} entries in its table ${table.type}, more than it has bytes for. ` +
        "Convert it to MP4 again.",
    );
  }
}

/**
 * Whether a file has, or says that it would have, the bytes of samples of a common size. Of a video
 * that is cut off there is still a byte for each of them.
 */
async function areBacked(file: RangedFile, count: number, bytes: number, isVideo: boolean) {
  if (isVideo && count > file.size) return false;
  let end = file.size;
  if (count * bytes > end) for await (const box of topLevelBoxes(file)) end = box.end;
  return count * bytes <= end;
}

/** Returns the last sample decoded at or before `time` (units of the track), by `stts`. */
async function sampleAt(file: RangedFile, times: Mp4Box, time: number): Promise<number> {
  let [samplesBefore, timeBefore, sample] = [0, 0, 0];
  await forEachEntry(file, times, 8, (view, at) => {
    const [count, delta] = [view.getUint32(at), view.getUint32(at + 4)];
    if (count === 0) return false;
    if (timeBefore > time) return true;
    const index =
      delta === 0 ? count - 1 : Math.min(count - 1, Math.floor((time - timeBefore) / delta));
    sample = samplesBefore + index;
    samplesBefore += count;
    timeBefore += count * delta;
    return false;
  });
  return sample;
}

/** Returns the last sync sample at or before a sample, by `stss`. Returns 0 without one. */
async function syncSampleAt(file: RangedFile, syncSamples: Mp4Box, sample: number) {
  let last = 0;
  await forEachEntry(file, syncSamples, 4, (view, at) => {
    const syncSample = view.getUint32(at) - 1;
    if (syncSample > sample) return true;
    last = syncSample;
    return false;
  });
  return last;
}

/**
 * Returns the entries of `stts` or `ctts` (runs of samples of one value) for a range of samples,
 * and the sum of the values of all samples before it.
 */
async function sliceRuns(
  file: RangedFile,
  table: Mp4Box,
  { from, to }: SampleRange,
): Promise<{ entries: number[]; sumBefore: number }> {
  const entries: number[] = [];
  let [first, sumBefore] = [0, 0];
  await forEachEntry(file, table, 8, (view, at) => {
    const [count, value] = [view.getUint32(at), view.getUint32(at + 4)];
    const countInRange = Math.min(to, first + count) - Math.max(from, first);
    if (countInRange > 0) entries.push(countInRange, value);
    requireWithinBudget("samples between two keyframes", entries.length / 2);
    sumBefore += Math.max(0, Math.min(from - first, count)) * value;
    first += count;
    return first >= to;
  });
  return { entries, sumBefore };
}

/** Returns the sync samples in a range, counted from 1 at its start, as `stss` counts. */
async function sliceSyncSamples(
  file: RangedFile,
  syncSamples: Mp4Box,
  { from, to }: SampleRange,
): Promise<number[]> {
  const entries: number[] = [];
  await forEachEntry(file, syncSamples, 4, (view, at) => {
    const syncSample = view.getUint32(at) - 1;
    if (syncSample >= from && syncSample < to) entries.push(syncSample - from + 1);
    requireWithinBudget("samples between two keyframes", entries.length);
    return syncSample >= to;
  });
  return entries;
}

/**
 * Returns the entries of `stsc` for the chunks that hold a range of samples, these chunks, and all
 * the samples in them. `chunkCount` is the number of chunks of the track.
 */
async function sliceChunks(
  file: RangedFile,
  table: Mp4Box,
  chunkCount: number,
  { from, to }: SampleRange,
): Promise<{ entries: number[]; chunks: SampleRange; samples: SampleRange }> {
  const entries: number[] = [];
  const chunks = { from: 0, to: 0 };
  const samples = { from: 0, to: 0 };
  let sample = 0;
  const addRun = (first: number, end: number, samplesPerChunk: number, description: number) => {
    if (samplesPerChunk === 0 || end <= first) return;
    const firstInRange = Math.max(0, Math.floor((from - sample) / samplesPerChunk));
    const endInRange = Math.min(end - first, Math.ceil((to - sample) / samplesPerChunk));
    if (firstInRange < endInRange) {
      if (entries.length === 0) {
        chunks.from = first + firstInRange;
        samples.from = sample + firstInRange * samplesPerChunk;
      }
      entries.push(first + firstInRange - chunks.from + 1, samplesPerChunk, description);
      requireWithinBudget("samples between two keyframes", entries.length / 3);
      chunks.to = first + endInRange;
      samples.to = sample + endInRange * samplesPerChunk;
    }
    sample += (end - first) * samplesPerChunk;
  };
  // The length of a run is known from the first chunk of the next one.
  let pending: Parameters<typeof addRun> | undefined;
  await forEachEntry(file, table, 12, (view, at) => {
    const first = view.getUint32(at) - 1;
    if (pending) addRun(pending[0], first, pending[2], pending[3]);
    pending = [first, chunkCount, view.getUint32(at + 4), view.getUint32(at + 8)];
    return sample >= to;
  });
  if (pending && sample < to) addRun(...pending);
  return { entries, chunks, samples };
}
