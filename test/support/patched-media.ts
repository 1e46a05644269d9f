import {
  EMPTY_EDIT,
  makeEditBox,
  NORMAL_RATE,
  findBox,
  findMoov,
  makeBox,
  type Mp4Box,
  type RangedFile,
  readTimescale,
  rewriteBox,
} from "../../src/media/container/mp4-boxes.ts";

/** An entry of an edit list. Times are seconds, of the stream `null` for a pause. */
export interface Edit {
  duration: number;
  streamStart: number | null;
  rate: number;
}

const PACKET_BYTES = 188;
const CLOCK_TICKS = 2 ** 33;

export function toRangedFile(bytes: Uint8Array): RangedFile {
  return { size: bytes.length, read: async (start, end) => bytes.slice(start, end) };
}

/** Gives every track of an MP4, whose `moov` is its last box, another edit list. */
export async function withEdits(mp4: Uint8Array, edits: readonly Edit[]): Promise<Uint8Array> {
  const file = toRangedFile(mp4);
  const moov = (await findMoov(file))!;
  const movieTimescale = await readTimescale(file, findBox(moov, "mvhd")!);
  const replacements = new Map<Mp4Box, Uint8Array>();
  for (const track of moov.children.filter(({ type }) => type === "trak")) {
    const timescale = await readTimescale(file, findBox(track, "mdia", "mdhd")!);
    const stored = edits.map(({ duration, streamStart, rate }) => ({
      duration: Math.round(duration * movieTimescale),
      mediaTime: streamStart === null ? EMPTY_EDIT : Math.round(streamStart * timescale),
      rate: rate * NORMAL_RATE,
    }));
    const old = findBox(track, "edts");
    const without = new Map(old ? [[old, new Uint8Array()]] : []);
    const boxes = (await rewriteBox(file, track, without)).subarray(8);
    replacements.set(track, makeBox("trak", makeEditBox(stored), boxes));
  }
  const end = await rewriteBox(file, moov, replacements);
  return Buffer.concat([mp4.subarray(0, moov.start), end]);
}

/** Adds seconds to every clock of an MPEG-TS. The 33 bits of a clock overflow. */
export function shiftClock(ts: Uint8Array, seconds: number): Uint8Array {
  const bytes = Buffer.from(ts);
  const ticks = Math.round(seconds * 90_000);
  const shift = (value: number) => (((value + ticks) % CLOCK_TICKS) + CLOCK_TICKS) % CLOCK_TICKS;
  for (let packet = 0; packet + PACKET_BYTES <= bytes.length; packet += PACKET_BYTES) {
    const hasAdaptation = (bytes[packet + 3]! & 0x20) !== 0;
    const adaptationBytes = hasAdaptation ? bytes[packet + 4]! : 0;
    const hasReference = adaptationBytes > 6 && (bytes[packet + 5]! & 0x10) !== 0;
    if (hasReference) {
      const base = bytes.readUInt32BE(packet + 6) * 2 + (bytes[packet + 10]! >> 7);
      const shifted = shift(base);
      bytes.writeUInt32BE(Math.floor(shifted / 2), packet + 6);
      bytes[packet + 10] = (bytes[packet + 10]! & 0x7f) | ((shifted % 2) << 7);
    }
    const pes = packet + 4 + (hasAdaptation ? 1 + adaptationBytes : 0);
    const beginsPes =
      (bytes[packet + 1]! & 0x40) !== 0 &&
      pes + 14 < bytes.length &&
      bytes.readUIntBE(pes, 3) === 1;
    const flags = beginsPes ? bytes[pes + 7]! >> 6 : 0;
    if (flags >= 2) writeTicks(bytes, pes + 9, shift(readTicks(bytes, pes + 9)));
    if (flags === 3) writeTicks(bytes, pes + 14, shift(readTicks(bytes, pes + 14)));
  }
  return bytes;
}

function readTicks(bytes: Buffer, at: number): number {
  const high = (bytes[at]! >> 1) & 7;
  return (
    high * 2 ** 30 + (bytes.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (bytes.readUInt16BE(at + 3) >> 1)
  );
}

function writeTicks(bytes: Buffer, at: number, ticks: number): void {
  bytes[at] = (bytes[at]! & 0xf1) | (Math.floor(ticks / 2 ** 30) << 1);
  bytes.writeUInt16BE(((Math.floor(ticks / 2 ** 15) % 2 ** 15) << 1) | 1, at + 1);
  bytes.writeUInt16BE(((ticks % 2 ** 15) << 1) | 1, at + 3);
}
