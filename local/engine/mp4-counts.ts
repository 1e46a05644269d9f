import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { EngineError } from "./errors.ts";

const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "stbl", "moof", "traf"]);
/** A fragmented recording of 12 hours has half as many. */
const MAX_BOXES = 1_000_000;
/** Bytes from the start of a box in which its counts are. */
const HEAD_BYTES = 20;
/** Fields of four bytes that a run has for each sample, by the bits of its flags. */
const FIELDS_OF_SAMPLE = [0x100, 0x200, 0x400, 0x800];

/**
 * Refuses an MP4 or QuickTime file that promises more samples than its bytes can back: FFmpeg makes
 * a table of them all. Other files pass. Errors: `undecodable_media`.
 */
export function requireBackedSamples(path: string): void {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    if (countSamples(file, size) <= size) return;
    throw new EngineError("undecodable_media", "The file promises more samples than it has bytes.");
  } finally {
    closeSync(file);
  }
}

/**
 * Returns the number of samples that a file promises, each of which has a byte at least. Infinity
 * for a table of sizes that isn't all there, and for too many boxes.
 */
function countSamples(file: number, size: number): number {
  const ends: number[] = [];
  const head = Buffer.alloc(HEAD_BYTES);
  let samples = 0;
  for (let at = 0, boxes = 0; at + 8 <= size; boxes++) {
    if (boxes === MAX_BOXES) return Infinity;
    head.fill(0);
    readSync(file, head, 0, HEAD_BYTES, at);
    const type = head.toString("latin1", 4, 8);
    const isLong = head.readUInt32BE(0) === 1;
    const stated = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE(0);
    const length = stated === 0 ? size - at : stated;
    const content = isLong ? 16 : 8;
    if (length < content || (boxes === 0 && !/^[a-z ]{4}$/.test(type))) break;
    if (!isLong) samples += countOf(type, head, Math.min(length, size - at));
    if (CONTAINERS.has(type)) ends.push(at + length);
    at += CONTAINERS.has(type) ? content : length;
    while (ends.length > 0 && at >= ends.at(-1)!) at = ends.pop()!;
  }
  return samples;
}

/** Returns the samples that a box promises by its first bytes. */
function countOf(type: string, head: Buffer, length: number): number {
  const backed = (count: number, bytes: number) => (count * bytes > length ? Infinity : count);
  if (type === "stsz") return backed(head.readUInt32BE(16), head.readUInt32BE(12) === 0 ? 4 : 0);
  if (type === "stz2") return backed(head.readUInt32BE(16), head.readUInt8(15) / 8);
  if (type !== "trun") return 0;
  const fields = FIELDS_OF_SAMPLE.filter((bit) => head.readUInt32BE(8) & bit);
  return backed(head.readUInt32BE(12), 4 * fields.length);
}
