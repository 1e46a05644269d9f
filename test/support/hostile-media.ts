import { crc32, deflateSync } from "node:zlib";
import { makeBox, type RangedFile } from "../../src/media/container/mp4-boxes.ts";

type Part = Uint8Array | number[];

/** A file in memory that counts how often it is read, and how many bytes of it. */
export class CountedFile implements RangedFile {
  reads = 0;
  bytesRead = 0;
  readonly size: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  read = async (start: number, end: number): Promise<Uint8Array> => {
    this.reads++;
    const part = this.#bytes.slice(start, end);
    this.bytesRead += part.length;
    return part;
  };
}

/** Repeats bytes. */
export function repeat(bytes: Uint8Array, count: number): Uint8Array {
  return new Uint8Array(Buffer.alloc(bytes.length * count, bytes));
}

/** Adds empty boxes to an MP4. */
export function withBoxes(mp4: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat([mp4, repeat(makeBox("free"), count)]));
}

export interface HostileMp4 {
  /** Samples that `stsz` promises, and the bytes of each: 0 for a list of `sizes`. */
  sampleCount?: number;
  sampleBytes?: number;
  sizes?: number[];
  /** Samples that `stts` promises. */
  timedCount?: number;
  /** Units of the track, whose timescale is 1,000, of a sample. */
  delta?: number;
  /** Content of `ctts` after its version. */
  reordered?: number[];
  /** Content of `elst` after its version. */
  edits?: Uint8Array;
  /** Content of `stsc` and `stco` after their versions. */
  runs?: Part;
  offsets?: Part;
  /** Further boxes of the sample description, track and `moov`, before that and after the data. */
  inEntry?: Uint8Array;
  inTrack?: Uint8Array;
  inMovie?: Uint8Array;
  before?: Uint8Array;
  after?: Uint8Array;
  payload?: Uint8Array;
}

const MATRIX = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
const SIDES = { width: 320, height: 240 };

/** Makes an MP4 of one video track, 320 × 240, whose tables say what is asked for. */
export function makeMp4({
  sampleCount = 10,
  sampleBytes = 100,
  sizes = [],
  timedCount = sampleCount,
  delta = 100,
  reordered,
  edits,
  runs,
  offsets,
  inEntry = new Uint8Array(),
  inTrack = new Uint8Array(),
  inMovie = new Uint8Array(),
  before = new Uint8Array(),
  after = new Uint8Array(),
  payload = Buffer.alloc(1000, 1),
}: HostileMp4 = {}): Uint8Array {
  const duration = Math.min(timedCount * delta, 2 ** 32 - 1);
  const ftyp = makeBox("ftyp", Buffer.from("isom\0\0\x02\0isomavc1mp41", "latin1"));
  const avcC = makeBox("avcC", Buffer.from("0142c01effe1000467420000010001ff", "hex"));
  const entry = Buffer.alloc(78);
  entry.writeUInt16BE(1, 6);
  entry.writeUInt16BE(SIDES.width, 24);
  entry.writeUInt16BE(SIDES.height, 26);
  const mdhd = [0, 0, 0, 1000, duration, 0x55c4_0000];
  const hdlr = [0, 0, 0x76696465, 0, 0, 0, 0];
  const tkhd = [7, 0, 0, 1, 0, duration, 0, 0, 0, 0];
  const build = (payloadAt: number): Uint8Array => {
    const tables = makeBox(
      "stbl",
      makeBox("stsd", [0, 1], makeBox("avc1", entry, avcC, inEntry)),
      makeBox("stts", [0, 1, timedCount, delta]),
      ...(reordered ? [makeBox("ctts", [0], reordered)] : []),
      makeBox("stsc", [0], runs ?? [1, 1, sampleCount, 1]),
      makeBox("stsz", [0, sizes.length > 0 ? 0 : sampleBytes, sampleCount], sizes),
      makeBox("stco", [0], offsets ?? [1, payloadAt]),
    );
    const track = makeBox(
      "trak",
      makeBox("tkhd", tkhd, MATRIX, [SIDES.width << 16, SIDES.height << 16]),
      ...(edits ? [makeBox("edts", makeBox("elst", [0], edits))] : []),
      makeBox("mdia", makeBox("mdhd", mdhd), makeBox("hdlr", hdlr), makeBox("minf", tables)),
      inTrack,
    );
    const mvhd = [0, 0, 0, 1000, duration, 0x10000, 0x100_0000, 0, 0, ...MATRIX];
    const movie = makeBox("mvhd", mvhd, Array<number>(6).fill(0), [2]);
    return Buffer.concat([ftyp, before, makeBox("moov", movie, track, inMovie)]);
  };
  const head = build(build(0).length + 8);
  return Buffer.concat([head, makeBox("mdat", payload), after]);
}

/** Makes an edit list of edits of 1 ms. */
export function makeEdits(count: number): Uint8Array {
  return Buffer.concat([uint32(count), repeat(bytesOf([1, 0, 0x10000]), count)]);
}

/** Makes `edts` boxes that are nested or that hold others. */
export function nested(type: string, depth: number): Uint8Array {
  const boxes = Buffer.alloc(8 * depth);
  for (let i = 0; i < depth; i++) {
    boxes.writeUInt32BE(8 * (depth - i), 8 * i);
    boxes.write(type, 8 * i + 4, "latin1");
  }
  return boxes;
}

/** A fragment whose only run promises samples, without a byte for each. */
export function makeFragment(sampleCount: number): Uint8Array {
  const run = makeBox("trun", [0, sampleCount]);
  const header = makeBox("tfhd", [0x02_0038, 1, 40, 1, 0]);
  const traf = makeBox("traf", header, makeBox("tfdt", [0, 0]), run);
  return Buffer.concat([makeBox("moof", makeBox("mfhd", [0, 1]), traf), makeBox("mdat", [0])]);
}

function bytesOf(numbers: number[]): Uint8Array {
  return Buffer.concat(numbers.map(uint32));
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const PACKET_BYTES = 188;

/** Makes an MPEG-TS of one H.264 stream whose clock starts again at each of its frames. */
export function makeRestarts(count: number): Uint8Array {
  const packet = (pid: number, payload: Uint8Array) => {
    const bytes = Buffer.alloc(PACKET_BYTES, 0xff);
    bytes.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10]);
    bytes.set(payload, 4);
    return bytes;
  };
  const section = (hex: string) => Buffer.from(`00${hex}`, "hex");
  const tables = Buffer.concat([
    packet(0, section("00b00d0001c100000001e1002ab104b2")),
    packet(0x100, section("02b0120001c10000e101f0001be101f00015bd4d56")),
  ]);
  const frames = Array.from({ length: count }, (_, i) => {
    const ticks = (i * 2_000_000) % 2 ** 33;
    const [high, middle, low] = [ticks / 2 ** 30, (ticks / 2 ** 15) % 2 ** 15, ticks % 2 ** 15];
    const time = Buffer.alloc(5);
    time[0] = 0x21 | (Math.floor(high) << 1);
    time.writeUInt16BE((Math.floor(middle) << 1) | 1, 1);
    time.writeUInt16BE((low << 1) | 1, 3);
    const pes = Buffer.concat([Buffer.from("000001e00000808005", "hex"), time]);
    return Buffer.concat([tables, packet(0x101, pes)]);
  });
  return Buffer.concat(frames);
}

/** A chunk of a PNG. */
export function pngChunk(type: string, data: Uint8Array = new Uint8Array()): Uint8Array {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

/** Makes an animated PNG whose first frame is blank, with chunks between its head and that. */
export function makeApng(between: Uint8Array, frames = 16): Uint8Array {
  const side = 16;
  const pixels = deflateSync(Buffer.alloc(side * (1 + 4 * side)));
  const control = (sequence: number) =>
    pngChunk("fcTL", Buffer.concat([bytesOf([sequence, side, side, 0, 0]), Buffer.alloc(6)]));
  const later = Array.from({ length: frames }, (_, i) => [
    control(2 * i + 1),
    pngChunk("fdAT", Buffer.concat([uint32(2 * i + 2), pixels])),
  ]);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", Buffer.concat([bytesOf([side, side]), Buffer.of(8, 6, 0, 0, 0)])),
    pngChunk("acTL", bytesOf([frames + 1, 0])),
    between,
    control(0),
    pngChunk("IDAT", pixels),
    ...later.flat(),
    pngChunk("IEND"),
  ]);
}

/** Makes an element of Matroska from its id in hexadecimal digits. */
export function element(id: string, ...parts: Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(content.length));
  size[0] = 1; // the size has 7 bytes
  return Buffer.concat([Buffer.from(id, "hex"), size, content]);
}

const byte = (...values: number[]) => Buffer.from(values);

/** Makes a Matroska file of one audio track from the elements behind its tracks. */
export function makeMatroska(...inSegment: Uint8Array[]): Uint8Array {
  const track = element(
    "ae",
    element("d7", byte(1)),
    element("83", byte(2)),
    element("86", Buffer.from("A_OPUS")),
    element("e1", element("b5", Buffer.from("40e7700000000000", "hex")), element("9f", byte(1))),
  );
  return Buffer.concat([
    element("1a45dfa3", element("4282", Buffer.from("matroska"))),
    element("18538067", element("1654ae6b", track), ...inSegment),
  ]);
}

/** A cue point of the track at a time. */
export function cuePoint(time: number): Uint8Array {
  const positions = element("b7", element("f7", byte(1)), element("f1", byte(0)));
  return element("bb", element("b3", uint32(time)), positions);
}

/** A cluster of blocks, each of which begins with its track, a time and flags. */
export function cluster(...blocks: Uint8Array[]): Uint8Array {
  return element("1f43b675", element("e7", byte(0)), ...blocks);
}

/** Makes a WAV with chunks before its samples. */
export function makeWav(chunks: Uint8Array): Uint8Array {
  const chunk = (type: string, data: Uint8Array) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(data.length);
    return Buffer.concat([Buffer.from(type, "latin1"), size, data]);
  };
  const format = Buffer.from("01000100401f0000401f000001000800", "hex");
  const body = [chunk("fmt ", format), chunks, chunk("data", Buffer.alloc(8000, 127))];
  return chunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...body]));
}

/** Makes a HEIF whose table of items has so many without a byte for their extents. */
export function makeHeif(items: number): Uint8Array {
  const exif = makeBox("infe", Buffer.from("02000000000200004578696600", "hex"));
  const names = makeBox("iinf", Buffer.from("000000000001", "hex"), exif);
  const places = repeat(Buffer.from("00010000ffff", "hex"), items);
  const count = Buffer.from("000000000000" + items.toString(16).padStart(4, "0"), "hex");
  const meta = makeBox("meta", Buffer.alloc(4), names, makeBox("iloc", count, places));
  return Buffer.concat([makeBox("ftyp", Buffer.from("heic\0\0\0\0mif1heic")), meta]);
}
