import { AppError } from "../../errors.ts";
import {
  findBox,
  findMoov,
  listBoxes,
  type Mp4Box,
  type RangedFile,
  readContent,
  readFourCc,
  readTimescale,
} from "./mp4-boxes.ts";

/** What a piece shall be. Milliseconds of the presentation. */
export interface ExpectedPart {
  startMs: number;
  endMs: number;
  /** Null for sound without pictures. */
  frameFormat: { width: number; height: number } | null;
  audio: boolean;
}

/** A piece of a conversion: an MP4 whose tracks can be joined with those of others. */
export interface Mp4Part {
  video: PartTrack | null;
  audio: PartTrack | null;
  /** Bytes of its samples in the file. */
  payload: { start: number; end: number };
  movieHeader: Uint8Array;
}

export interface PartTrack {
  /** Sizes in bytes, and times in units of the track, of the samples in order. */
  sizes: number[];
  durations: number[];
  /** Key samples, from 0; null if all are. */
  keys: number[] | null;
  /** Offsets of the chunks in the file, and the samples in each. */
  chunks: { offset: number; sampleCount: number }[];
  /** What decoding needs to know: the same in all parts. */
  config: Uint8Array;
  boxes: Record<(typeof COPIED)[number], Uint8Array>;
}

const COPIED = ["tkhd", "mdhd", "hdlr", "mhd", "dinf", "stsd"] as const;
export const VIDEO_TICKS_PER_MS = 90;
export const AUDIO_TICKS_PER_MS = 48;
const AUDIO_RATE = AUDIO_TICKS_PER_MS * 1000;
/** Samples of a frame of AAC. The audio frames of all parts lie on one grid. */
const AUDIO_FRAME = 1024;
/** Difference between the length of a piece and what was asked for, in ms. */
const MAX_LENGTH_ERROR_MS = 100;
/** A table of a piece has at most so many entries: 60 s at 1,000 frames a second. */
const MAX_ENTRIES = 60_000;

/**
 * Reads a piece, and compares it with what was asked for. Throws `upstream_failed` if it is
 * something else.
 */
export async function readConvertedPart(
  file: RangedFile,
  expected: ExpectedPart,
): Promise<Mp4Part> {
  try {
    return await parsePiece(file, expected);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw unusable("is no MP4 that can be read", cause);
  }
}

async function parsePiece(file: RangedFile, expected: ExpectedPart): Promise<Mp4Part> {
  const [moov, boxes] = [await findMoov(file), await listBoxes(file)];
  const mdat = boxes.find(({ type }) => type === "mdat");
  const movieHeader = moov && findBox(moov, "mvhd");
  if (!moov || !mdat || !movieHeader) throw unusable("is no MP4");
  if (mdat.end > file.size) throw unusable("is cut off");
  const payload = { start: mdat.contentStart, end: mdat.end };
  const tracks = new Map<string, PartTrack>();
  for (const box of moov.children.filter(({ type }) => type === "trak")) {
    const handler = readFourCc(await readContent(file, requireBox(box, "mdia", "hdlr")), 8);
    if (tracks.has(handler)) throw unusable("has several tracks of a kind");
    tracks.set(handler, await readTrack(file, box, payload));
  }
  const { vide: video = null, soun: audio = null, ...others } = Object.fromEntries(tracks);
  const isExpected =
    Boolean(video) === Boolean(expected.frameFormat) && Boolean(audio) === expected.audio;
  if (!isExpected || Object.keys(others).length > 0) {
    throw unusable("has other tracks than it should");
  }
  if (video) requireVideo(video, expected, expected.frameFormat!);
  if (audio) requireAudio(audio, expected);
  const header = await file.read(movieHeader.start, movieHeader.end);
  return { video, audio, payload, movieHeader: header };
}

async function readTrack(
  file: RangedFile,
  track: Mp4Box,
  payload: { start: number; end: number },
): Promise<PartTrack> {
  const table = (type: string) => requireBox(track, "mdia", "minf", "stbl", type);
  if (findBox(track, "mdia", "minf", "stbl", "ctts")) throw unusable("reorders its frames");
  const sizes = await readSizes(file, table("stsz"));
  const durations = (await readEntries(file, table("stts"), 2)).flatMap(([count, delta]) =>
    Array.from({ length: Math.min(count!, MAX_ENTRIES) }, () => delta!),
  );
  const sync = findBox(track, "mdia", "minf", "stbl", "stss");
  const keys = sync ? (await readEntries(file, sync, 1)).map(([sample]) => sample! - 1) : null;
  const offsets = (await readEntries(file, table("stco"), 1)).map(([offset]) => offset!);
  const runs = await readEntries(file, table("stsc"), 3);
  const chunks = offsets.map((offset, i) => {
    const run = runs.findLast(([first]) => first! <= i + 1);
    return { offset, sampleCount: run?.[1] ?? 0 };
  });
  requireWithin(payload, chunks, sizes);
  if (durations.length !== sizes.length || sizes.length === 0) throw unusable("lacks samples");
  const copied = {
    tkhd: requireBox(track, "tkhd"),
    mdhd: requireBox(track, "mdia", "mdhd"),
    hdlr: requireBox(track, "mdia", "hdlr"),
    mhd: findBox(track, "mdia", "minf", "vmhd") ?? requireBox(track, "mdia", "minf", "smhd"),
    dinf: requireBox(track, "mdia", "minf", "dinf"),
    stsd: table("stsd"),
  };
  const timescale = await readTimescale(file, copied.mdhd);
  if (timescale !== VIDEO_TICKS_PER_MS * 1000 && timescale !== AUDIO_RATE) {
    throw unusable("has another timescale");
  }
  const bytes = Object.entries(copied).map(async ([name, box]) => {
    return [name, await file.read(box.start, box.end)] as const;
  });
  const copies = Object.fromEntries(await Promise.all(bytes)) as PartTrack["boxes"];
  return { sizes, durations, keys, chunks, boxes: copies, config: configOf(copies.stsd) };
}

/** Returns the parameter sets of H.264, or the channels of AAC: the rest has bit rates. */
function configOf(description: Uint8Array): Uint8Array {
  const bytes = Buffer.from(description);
  const at = bytes.indexOf("avcC");
  if (at < 4) return bytes.subarray(ENTRY.type, ENTRY.audioEnd);
  return bytes.subarray(at, at - 4 + bytes.readUInt32BE(at - 4));
}

/** Throws unless the samples of each chunk are bytes of the payload. */
function requireWithin(
  payload: { start: number; end: number },
  chunks: PartTrack["chunks"],
  sizes: readonly number[],
): void {
  let sample = 0;
  for (const { offset, sampleCount } of chunks) {
    const bytes = sizes.slice(sample, sample + sampleCount).reduce((sum, size) => sum + size, 0);
    if (offset < payload.start || offset + bytes > payload.end) throw unusable("lacks bytes");
    sample += sampleCount;
  }
  if (sample !== sizes.length) throw unusable("lacks chunks");
}

/** Offsets in a box `stsd`: of its first entry's type and sides, and of the end of its audio. */
const ENTRY = { type: 20, width: 48, height: 50, audioEnd: 52 };

/** Throws unless the track is H.264 of the right size and length; corrects its last duration. */
function requireVideo(
  track: PartTrack,
  { startMs, endMs }: ExpectedPart,
  { width, height }: { width: number; height: number },
): void {
  const entry = Buffer.from(track.boxes.stsd);
  if (entry.toString("latin1", ENTRY.type, ENTRY.type + 4) !== "avc1") {
    throw unusable("isn't H.264");
  }
  if (entry.readUInt16BE(ENTRY.width) !== width || entry.readUInt16BE(ENTRY.height) !== height) {
    throw unusable("has another size");
  }
  const length = (endMs - startMs) * VIDEO_TICKS_PER_MS;
  const difference = length - track.durations.reduce((sum, duration) => sum + duration, 0);
  const last = track.durations.at(-1)! + difference;
  if (Math.abs(difference) > MAX_LENGTH_ERROR_MS * VIDEO_TICKS_PER_MS || last <= 0) {
    throw unusable("has another length");
  }
  track.durations[track.durations.length - 1] = last;
}

/** Throws unless the track is AAC with each frame that begins in the piece. */
function requireAudio(track: PartTrack, { startMs, endMs }: ExpectedPart): void {
  const entry = Buffer.from(track.boxes.stsd);
  if (entry.toString("latin1", ENTRY.type, ENTRY.type + 4) !== "mp4a") throw unusable("isn't AAC");
  const frameAt = (ms: number) => Math.ceil((ms * AUDIO_RATE) / 1000 / AUDIO_FRAME);
  if (track.sizes.length !== frameAt(endMs) - frameAt(startMs)) {
    throw unusable("has audio of another length");
  }
}

function requireBox(box: Mp4Box, ...types: string[]): Mp4Box {
  const found = findBox(box, ...types);
  if (!found) throw unusable(`has no box "${types.at(-1)}"`);
  return found;
}

async function readSizes(file: RangedFile, box: Mp4Box): Promise<number[]> {
  const view = await readContent(file, box);
  const [uniform, count] = [view.getUint32(4), Math.min(view.getUint32(8), MAX_ENTRIES)];
  return Array.from({ length: count }, (_, i) => uniform || view.getUint32(12 + i * 4));
}

/** Reads a table whose entries have `width` numbers. */
async function readEntries(file: RangedFile, box: Mp4Box, width: number): Promise<number[][]> {
  const view = await readContent(file, box);
  const count = Math.min(view.getUint32(4), MAX_ENTRIES);
  return Array.from({ length: count }, (_, i) =>
    Array.from({ length: width }, (_, j) => view.getUint32(8 + (i * width + j) * 4)),
  );
}

export function unusable(what: string, cause?: unknown): AppError {
  const message = `The decoder returned a piece that ${what}.`;
  return new AppError("upstream_failed", message, { cause });
}
