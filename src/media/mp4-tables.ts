import { type Box, contentOf, type RangedFile } from "./mp4-boxes.ts";

/** Samples or chunks of a track, counted from 0: `to` is the first that doesn't belong to them. */
export interface Range {
  from: number;
  to: number;
}

/** Of a table, version and flags, then how many entries there are. */
const TABLE_HEADER = 8;
/** A table is read in pieces of so many bytes. */
const PIECE = 256 * 1024;

/** Has `visit` look at the entries of a table, as far as there are so many, until it says that it has done. */
async function eachEntry(
  file: RangedFile,
  table: Box,
  entryBytes: number,
  visit: (view: DataView, at: number) => boolean,
): Promise<void> {
  const count = (await contentOf(file, table, 4, TABLE_HEADER)).getUint32(0);
  const end = TABLE_HEADER + count * entryBytes;
  const piece = Math.floor(PIECE / entryBytes) * entryBytes;
  for (let from = TABLE_HEADER; from < end; from += piece) {
    const view = await contentOf(file, table, from, Math.min(end, from + piece));
    for (let at = 0; at + entryBytes <= view.byteLength; at += entryBytes) {
      if (visit(view, at)) return;
    }
    if (view.byteLength < piece) return;
  }
}

/** The last sample that is decoded at `time` (in the track's units) or before it, by `stts`. */
export async function sampleAt(file: RangedFile, times: Box, time: number): Promise<number> {
  let [samples, now, found] = [0, 0, 0];
  await eachEntry(file, times, 8, (view, at) => {
    const [count, delta] = [view.getUint32(at), view.getUint32(at + 4)];
    if (count === 0) return false;
    if (now > time) return true;
    const later = delta === 0 ? count - 1 : Math.min(count - 1, Math.floor((time - now) / delta));
    found = samples + later;
    samples += count;
    now += count * delta;
    return false;
  });
  return found;
}

/** The last key picture among the samples up to one, by `stss`; the first sample where there is none. */
export async function keySampleAt(file: RangedFile, keys: Box, sample: number): Promise<number> {
  let found = 0;
  await eachEntry(file, keys, 4, (view, at) => {
    const key = view.getUint32(at) - 1;
    if (key > sample) return true;
    found = key;
    return false;
  });
  return found;
}

/** The entries of `stts` or `ctts` for some samples, and the sum of the values of all before these. */
export async function cutRuns(
  file: RangedFile,
  table: Box,
  { from, to }: Range,
): Promise<{ entries: number[]; before: number }> {
  const entries: number[] = [];
  let [first, before] = [0, 0];
  await eachEntry(file, table, 8, (view, at) => {
    const [count, value] = [view.getUint32(at), view.getUint32(at + 4)];
    const kept = Math.min(to, first + count) - Math.max(from, first);
    if (kept > 0) entries.push(kept, value);
    before += Math.max(0, Math.min(from - first, count)) * value;
    first += count;
    return first >= to;
  });
  return { entries, before };
}

/** The key pictures among some samples, counted from the first of these, as `stss` does it. */
export async function cutKeys(file: RangedFile, keys: Box, { from, to }: Range): Promise<number[]> {
  const entries: number[] = [];
  await eachEntry(file, keys, 4, (view, at) => {
    const key = view.getUint32(at) - 1;
    if (key >= from && key < to) entries.push(key - from + 1);
    return key >= to;
  });
  return entries;
}

/** The entries of `stsc` for the chunks that hold some samples; which ones these are, and all samples in them. */
export async function cutChunks(
  file: RangedFile,
  table: Box,
  count: number,
  { from, to }: Range,
): Promise<{ entries: number[]; chunks: Range; samples: Range }> {
  const entries: number[] = [];
  const chunks = { from: 0, to: 0 };
  const samples = { from: 0, to: 0 };
  let sample = 0;
  const take = (first: number, until: number, size: number, description: number) => {
    if (size === 0 || until <= first) return;
    const begin = Math.max(0, Math.floor((from - sample) / size));
    const end = Math.min(until - first, Math.ceil((to - sample) / size));
    if (begin < end) {
      if (entries.length === 0) {
        chunks.from = first + begin;
        samples.from = sample + begin * size;
      }
      entries.push(first + begin - chunks.from + 1, size, description);
      chunks.to = first + end;
      samples.to = sample + end * size;
    }
    sample += (until - first) * size;
  };
  let held: Parameters<typeof take> | undefined;
  await eachEntry(file, table, 12, (view, at) => {
    const first = view.getUint32(at) - 1;
    if (held) take(held[0], first, held[2], held[3]);
    held = [first, count, view.getUint32(at + 4), view.getUint32(at + 8)];
    return sample >= to;
  });
  if (held && sample < to) take(...held);
  return { entries, chunks, samples };
}
