import {
  type Box,
  boxAt,
  contentOf,
  findMovie,
  makeBox,
  nameIn,
  type RangedFile,
  rewriteBox,
  viewOf,
} from "./mp4-boxes.ts";
import { cutChunks, cutKeys, cutRuns, keySampleAt, type Range, sampleAt } from "./mp4-tables.ts";

/** A stretch of a video, in seconds. */
export interface Span {
  from: number;
  to: number;
}

/** What stands in a file from `start` to `end` (bytes) in place of what is there: these bytes, then zeros. */
export interface Patch {
  start: number;
  end: number;
  bytes: Uint8Array;
}

/** By so much the window is wider than the stretch: pictures are stored in another order than they are shown. */
const SLACK_SECONDS = 10;
const KINDS = new Set(["vide", "soun"]);
/** An edit that shows nothing. */
const EMPTY = -1;
const WHOLE_RATE = 0x10000;

/**
 * An MP4 names each of its samples in an index that a reader has to hold: of a film of hours, tens of
 * megabytes. This makes one in its place of what is needed to read a stretch: from the key picture before it
 * to what follows, of every video and audio track, at the same times and in the same places. What that takes
 * in memory doesn't grow with the film. Null where there is no such index (no MP4, or a fragmented one), or
 * a damaged one: then the file is to be read as it is. Source: ISO/IEC 14496-12, 8.6 and 8.7.
 */
export async function windowIndex(file: RangedFile, span: Span): Promise<Patch | null> {
  try {
    const movie = await findMovie(file);
    const header = movie && boxAt(movie, "mvhd");
    if (!header || boxAt(movie, "mvex")) return null;
    const timescale = await timescaleOf(file, header);
    const others = new Map<Box, Uint8Array | null>();
    for (const box of movie.children) {
      if (box === header) continue;
      others.set(
        box,
        (await isWanted(file, box)) ? await cutTrack(file, box, timescale, span) : null,
      );
    }
    return fit(movie, await rewriteBox(file, movie, others));
  } catch (error) {
    if (error instanceof RangeError) return null; // what a table ends before, or lacks
    throw error;
  }
}

/** The new index, and free space for the rest of the old one. */
function fit({ start, end }: Box, index: Uint8Array): Patch | null {
  const free = end - start - index.length;
  if (free < 8) return null;
  const rest = makeBox("free");
  viewOf(rest).setUint32(0, free);
  return { start, end, bytes: Buffer.concat([index, rest]) };
}

async function isWanted(file: RangedFile, box: Box): Promise<boolean> {
  const handler = boxAt(box, "mdia", "hdlr");
  if (box.type !== "trak" || !handler) return false;
  return KINDS.has(nameIn(await contentOf(file, handler, 8, 12), 0));
}

/** A track's box whose tables hold the samples of a stretch. Throws `RangeError` where it has no such tables. */
async function cutTrack(
  file: RangedFile,
  track: Box,
  movieTimescale: number,
  span: Span,
): Promise<Uint8Array> {
  const timescale = await timescaleOf(file, need(boxAt(track, "mdia", "mdhd")));
  const tables = need(boxAt(track, "mdia", "minf", "stbl"));
  const [times, keys] = [need(boxAt(tables, "stts")), boxAt(tables, "stss")];
  const edits = await readEdits(file, boxAt(track, "edts", "elst"));
  const shown = need(edits.find(({ mediaTime }) => mediaTime !== EMPTY));
  if (shown.rate !== WHOLE_RATE) throw new RangeError("shown faster or slower than recorded");
  const delay = edits.slice(0, edits.indexOf(shown)).reduce((sum, edit) => sum + edit.duration, 0);
  const toMedia = (seconds: number) =>
    (seconds - delay / movieTimescale) * timescale + shown.mediaTime;
  const first = await sampleAt(file, times, toMedia(span.from - SLACK_SECONDS));
  const last = await sampleAt(file, times, toMedia(span.to + SLACK_SECONDS));
  const from = keys ? await keySampleAt(file, keys, first) : first;
  let cut = await cutTables(file, tables, { from, to: last + 1 });
  if (shown.mediaTime - cut.before === EMPTY) {
    cut = await cutTables(file, tables, { from: cut.from - 1, to: last + 1 });
  }
  shown.mediaTime -= cut.before;
  const others = new Map(cut.others);
  const edited = makeBox("edts", writeEdits(edits));
  const own = boxAt(track, "edts");
  if (own) others.set(own, edited);
  const rewritten = await rewriteBox(file, track, others);
  return own ? rewritten : makeBox("trak", edited, rewritten.subarray(8));
}

/** Of the tables, what is about the chunks that hold some samples; and how long those before last. */
async function cutTables(file: RangedFile, tables: Box, wanted: Range) {
  const box = (type: string) => boxAt(tables, type);
  const offsets = need(box("stco") ?? box("co64"));
  const chunkCount = (await contentOf(file, offsets, 4, 8)).getUint32(0);
  const { entries, chunks, samples } = await cutChunks(file, need(box("stsc")), chunkCount, wanted);
  if (entries.length === 0) throw new RangeError("no chunk holds these samples");
  const times = await cutRuns(file, need(box("stts")), samples);
  const others = new Map<Box, Uint8Array | null>(tables.children.map((child) => [child, null]));
  const set = (table: Box | undefined, count: number, ...parts: (Uint8Array | number[])[]) => {
    if (table) others.set(table, makeBox(table.type, [0, count], ...parts));
  };
  others.delete(need(box("stsd")));
  set(box("stts"), times.entries.length / 2, times.entries);
  set(box("stsc"), entries.length / 3, entries);
  const width = offsets.type === "co64" ? 8 : 4;
  set(offsets, chunks.to - chunks.from, await slice(file, offsets, 8, width, chunks));
  const sizes = need(box("stsz"));
  const size = (await contentOf(file, sizes, 4, 8)).getUint32(0);
  const own = size === 0 ? await slice(file, sizes, 12, 4, samples) : [];
  others.set(sizes, makeBox("stsz", [0, size, samples.to - samples.from], own));
  const [keys, shifts] = [box("stss"), box("ctts")];
  if (keys) {
    const kept = await cutKeys(file, keys, samples);
    set(keys, kept.length, kept);
  }
  if (shifts) {
    const kept = await cutRuns(file, shifts, samples);
    set(shifts, kept.entries.length / 2, kept.entries);
  }
  return { others, before: times.before, from: samples.from };
}

/** Entries of a table as they are. Throws `RangeError` where there are fewer. */
async function slice(
  file: RangedFile,
  table: Box,
  header: number,
  width: number,
  { from, to }: Range,
): Promise<Uint8Array> {
  const view = await contentOf(file, table, header + from * width, header + to * width);
  if (view.byteLength < (to - from) * width) throw new RangeError(`${table.type} is cut off`);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Units a second. */
async function timescaleOf(file: RangedFile, header: Box): Promise<number> {
  const view = await contentOf(file, header, 0, 24);
  const units = view.getUint32(view.getUint8(0) === 0 ? 12 : 20);
  if (units === 0) throw new RangeError("a second has no units");
  return units;
}

interface Edit {
  /** In units of the movie. */
  duration: number;
  /** In units of the track, `EMPTY`, or none at all. */
  mediaTime: number;
  rate: number;
}

/** As they are; where there are none, one that shows all. */
async function readEdits(file: RangedFile, list: Box | undefined): Promise<Edit[]> {
  if (!list) return [{ duration: 0, mediaTime: 0, rate: WHOLE_RATE }];
  const view = await contentOf(file, list);
  const [width, count] = [view.getUint8(0) === 0 ? 4 : 8, view.getUint32(4)];
  return Array.from({ length: Math.min(count, view.byteLength) }, (_, i) => {
    const at = 8 + i * (2 * width + 4);
    const isWide = width === 8;
    const duration = isWide ? Number(view.getBigUint64(at)) : view.getUint32(at);
    const mediaTime = isWide ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4);
    return { duration, mediaTime, rate: view.getUint32(at + 2 * width) };
  });
}

function writeEdits(edits: Edit[]): Uint8Array {
  const bytes = new Uint8Array(edits.length * 20);
  const view = viewOf(bytes);
  for (const [i, { duration, mediaTime, rate }] of edits.entries()) {
    view.setBigUint64(i * 20, BigInt(duration));
    view.setBigInt64(i * 20 + 8, BigInt(mediaTime));
    view.setUint32(i * 20 + 16, rate);
  }
  return makeBox("elst", [1 << 24, edits.length], bytes);
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError("the index lacks a table");
  return value;
}
