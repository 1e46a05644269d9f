import { AppError } from "../../errors.ts";
import { requireWithinBudget } from "../structure-budget.ts";
import { type Mp4Box, readContent, type RangedFile, topLevelBoxes } from "./mp4-boxes.ts";

/** Samples or chunks of a track, counted from 0. `to` is exclusive. */
export interface SampleRange {
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
export async function sampleAt(file: RangedFile, times: Mp4Box, time: number): Promise<number> {
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
export async function syncSampleAt(file: RangedFile, syncSamples: Mp4Box, sample: number) {
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
export async function sliceRuns(
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
export async function sliceSyncSamples(
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
export async function sliceChunks(
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
