import { AppError } from "../../errors.ts";
import {
  findBox,
  findMoov,
  makeBox,
  type Mp4Box,
  type RangedFile,
  readContent,
  readHandler,
  topLevelBoxes,
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

interface PartTrack {
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

/** Boxes that the tracks of the first part have, and those of the copy, too. */
const COPIED = ["tkhd", "mdhd", "hdlr", "vmhd", "smhd", "dinf", "stsd"] as const;
const VIDEO_TICKS_PER_MS = 90;
const AUDIO_TICKS_PER_MS = 48;
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
  const moov = requireBox(await findMoov(file));
  let mdat: Mp4Box | undefined;
  for await (const box of topLevelBoxes(file)) if (box.type === "mdat") mdat ??= box;
  const { contentStart: start, end } = requireBox(mdat);
  if (end > file.size) throw unusable("is cut off");
  const tracks: Record<string, PartTrack> = {};
  for (const box of moov.children.filter(({ type }) => type === "trak")) {
    tracks[(await readHandler(file, box))!] = await readTrack(file, box);
  }
  const { vide: video = null, soun: audio = null } = tracks;
  const { frameFormat } = expected;
  if (Boolean(video) !== Boolean(frameFormat) || Boolean(audio) !== expected.audio) {
    throw unusable("has other tracks than it should");
  }
  if (video && frameFormat) requireVideo(video, expected, frameFormat);
  if (audio) requireAudio(audio, expected);
  const header = requireBox(findBox(moov, "mvhd"));
  const movieHeader = await file.read(header.start, header.end);
  return { video, audio, payload: { start, end }, movieHeader };
}

async function readTrack(file: RangedFile, track: Mp4Box): Promise<PartTrack> {
  const tables = requireBox(findBox(track, "mdia", "minf", "stbl"));
  const read = (type: string, width: number) => {
    const table = findBox(tables, type);
    return table ? readEntries(file, table, width) : null;
  };
  const sizes = await readSizes(file, requireBox(findBox(tables, "stsz")));
  const durations: number[] = [];
  for (const [count, delta] of (await read("stts", 2)) ?? []) {
    const end = Math.min(durations.length + count!, MAX_ENTRIES);
    while (durations.length < end) durations.push(delta!);
  }
  const runs = (await read("stsc", 3)) ?? [];
  const chunks = ((await read("stco", 1)) ?? []).map(([offset], i) => {
    const run = runs.findLast(([first]) => first! <= i + 1);
    return { offset: offset!, sampleCount: run?.[1] ?? 0 };
  });
  const sampleCount = chunks.reduce((sum, chunk) => sum + chunk.sampleCount, 0);
  const isWhole = [durations.length, sampleCount].every((count) => count === sizes.length);
  if (!isWhole || sizes.length === 0) throw unusable("lacks samples");
  const boxes = {} as PartTrack["boxes"];
  for (const parent of [track, findBox(track, "mdia")!, findBox(track, "mdia", "minf")!, tables]) {
    for (const type of COPIED) {
      const box = findBox(parent, type);
      if (box) boxes[type] = await file.read(box.start, box.end);
    }
  }
  const keys = (await read("stss", 1))?.map(([sample]) => sample! - 1) ?? null;
  return { sizes, durations, keys, chunks, boxes, config: configOf(boxes.stsd) };
}

/** Returns the parameter sets of H.264, or the channels of AAC: the rest has bit rates. */
function configOf(description: Uint8Array): Uint8Array {
  const bytes = Buffer.from(description);
  const at = bytes.indexOf("avcC");
  if (at < 4) return bytes.subarray(ENTRY.type, ENTRY.audioEnd);
  return bytes.subarray(at, at - 4 + bytes.readUInt32BE(at - 4));
}

/** Offsets in a box `stsd`: of its first entry's type and sides, and of the end of its audio. */
const ENTRY = { type: 20, width: 48, height: 50, audioEnd: 52 };

/** Throws unless the track is H.264 of the right size and length; corrects its last duration. */
function requireVideo(
  { boxes, durations }: PartTrack,
  { startMs, endMs }: ExpectedPart,
  { width, height }: { width: number; height: number },
): void {
  const entry = Buffer.from(boxes.stsd);
  const isExpected =
    entry.includes("avc1", ENTRY.type) &&
    entry.readUInt16BE(ENTRY.width) === width &&
    entry.readUInt16BE(ENTRY.height) === height;
  if (!isExpected) throw unusable("isn't H.264 of its size");
  const length = (endMs - startMs) * VIDEO_TICKS_PER_MS;
  const difference = length - durations.reduce((sum, duration) => sum + duration, 0);
  const last = durations.at(-1)! + difference;
  if (Math.abs(difference) > MAX_LENGTH_ERROR_MS * VIDEO_TICKS_PER_MS || last <= 0) {
    throw unusable("has another length");
  }
  durations[durations.length - 1] = last;
}

/** Throws unless the track is AAC with each frame that begins in the piece. */
function requireAudio({ boxes, sizes }: PartTrack, { startMs, endMs }: ExpectedPart): void {
  const frameAt = (ms: number) => Math.ceil((ms * AUDIO_TICKS_PER_MS) / AUDIO_FRAME);
  const isExpected = Buffer.from(boxes.stsd).includes("mp4a", ENTRY.type);
  if (isExpected && sizes.length === frameAt(endMs) - frameAt(startMs)) return;
  throw unusable("isn't AAC of its length");
}

function requireBox(box: Mp4Box | null | undefined): Mp4Box {
  if (box) return box;
  throw unusable("lacks a box");
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

function unusable(what: string, cause?: unknown): AppError {
  const message = `The decoder returned a piece that ${what}.`;
  return new AppError("upstream_failed", message, { cause });
}

const MOVIE_TIMESCALE = 1000;

/**
 * Joins parts in order, one `add` each, into the head of an MP4 with its index in front. The
 * payloads of the parts follow it, in the same order. Takes some 20 bytes a sample.
 */
export class Mp4Merger {
  #first: Mp4Part | null = null;
  #payloadBytes = 0;
  readonly #video = new MergedTrack();
  readonly #audio = new MergedTrack();

  /** Throws `upstream_failed` if the piece is coded differently from the first one. */
  add(piece: Mp4Part): void {
    this.#first ??= piece;
    const { video, audio } = this.#first;
    if (!haveSameFormat(video, piece.video) || !haveSameFormat(audio, piece.audio)) {
      throw unusable("is coded differently from the first one");
    }
    const shift = this.#payloadBytes - piece.payload.start;
    if (piece.video) this.#video.add(piece.video, shift);
    if (piece.audio) this.#audio.add(piece.audio, shift);
    this.#payloadBytes += piece.payload.end - piece.payload.start;
  }

  /** Returns the boxes before the payloads. */
  head(): Uint8Array {
    if (!this.#first) throw new Error("There are no parts to join");
    const size = this.#build(0).length;
    return this.#build(size);
  }

  #build(payloadStart: number): Uint8Array {
    const { video, audio, movieHeader } = this.#first!;
    const durationMs = video
      ? this.#video.duration / VIDEO_TICKS_PER_MS
      : this.#audio.duration / AUDIO_TICKS_PER_MS;
    const tracks: Uint8Array[] = [];
    if (video) tracks.push(this.#video.build(video, durationMs, payloadStart));
    if (audio) tracks.push(this.#audio.build(audio, durationMs, payloadStart));
    const mdat = Buffer.alloc(16);
    mdat.writeUInt32BE(1, 0);
    mdat.write("mdat", 4, "latin1");
    mdat.writeBigUInt64BE(BigInt(this.#payloadBytes + 16), 8);
    return Buffer.concat([
      makeBox("ftyp", Buffer.from("isom\0\0\x02\0isomiso2avc1mp41", "latin1")),
      makeBox("moov", patch(movieHeader, 24, durationMs, MOVIE_TIMESCALE, 20), ...tracks),
      mdat,
    ]);
  }
}

/** Copies a box with another duration, and with another timescale if one is given. */
function patch(box: Uint8Array, at: number, duration: number, timescale = 0, scaleAt = 0): Buffer {
  const copy = Buffer.from(box);
  if (copy[8] !== 0) throw unusable("has long times");
  if (timescale > 0) copy.writeUInt32BE(timescale, scaleAt);
  copy.writeUInt32BE(Math.round(duration), at);
  return copy;
}

/** A track of the copy. Tables are lists of small numbers, of which each takes 4 bytes. */
class MergedTrack {
  duration = 0;
  readonly #sizes: number[] = [];
  /** Entries of `stts` and `stsc`. */
  readonly #runs: number[] = [];
  readonly #chunkRuns: number[] = [];
  /** Null while all samples are keys. */
  #keys: number[] | null = null;
  readonly #offsets: number[] = [];

  add({ sizes, durations, keys, chunks }: PartTrack, shift: number): void {
    if (keys) for (const key of keys) (this.#keys ??= []).push(this.#sizes.length + key + 1);
    for (const size of sizes) this.#sizes.push(size);
    for (const duration of durations) {
      this.duration += duration;
      if (this.#runs.at(-1) !== duration) this.#runs.push(0, duration);
      this.#runs[this.#runs.length - 2]! += 1;
    }
    for (const { offset, sampleCount } of chunks) {
      this.#offsets.push(offset + shift);
      if (this.#chunkRuns.at(-2) !== sampleCount) {
        this.#chunkRuns.push(this.#offsets.length, sampleCount, 1);
      }
    }
  }

  build({ boxes }: PartTrack, durationMs: number, payloadStart: number): Uint8Array {
    const offsets = this.#offsets.flatMap((offset) => {
      const at = offset + payloadStart;
      return [Math.floor(at / 2 ** 32), at % 2 ** 32];
    });
    const table = (type: string, width: number, entries: number[]) =>
      makeBox(type, [0, entries.length / width], entries);
    const samples = makeBox(
      "stbl",
      boxes.stsd,
      table("stts", 2, this.#runs),
      ...(this.#keys ? [table("stss", 1, this.#keys)] : []),
      table("stsc", 3, this.#chunkRuns),
      makeBox("stsz", [0, 0, this.#sizes.length], this.#sizes),
      table("co64", 2, offsets),
    );
    const media = makeBox("minf", boxes.vmhd ?? boxes.smhd, boxes.dinf, samples);
    return makeBox(
      "trak",
      patch(boxes.tkhd, 28, durationMs),
      makeBox("mdia", patch(boxes.mdhd, 24, this.duration), boxes.hdlr, media),
    );
  }
}

/** Whether tracks of two parts can be joined; without a track in both, they can. */
function haveSameFormat(first: PartTrack | null, other: PartTrack | null): boolean {
  if (!first || !other) return first === other;
  return Buffer.from(first.config).equals(other.config);
}
