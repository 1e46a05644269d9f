import type { FilePart } from "./file-parts.ts";
import { readMatroska } from "./matroska.ts";
import { listBoxes, type RangedFile } from "./mp4-boxes.ts";

/** What a file promises, and what of it is there. */
export interface AvailableBytes {
  /** Bytes that the file would have. */
  promised: number;
  /** Bytes before the first one that is missing. */
  available: number;
}

/** Boxes of fragments and of their data. */
const MEDIA_TYPES = new Set(["moof", "mdat"]);
/** Bytes of a probe. No media has as many zeros in a row at its end. */
const PROBE_BYTES = 4096;

/**
 * Compares the bytes of a file with those that its boxes promise. Zeros at the end of a file are
 * the rest of a download that was broken off.
 */
export async function measureBytes(file: RangedFile, part: FilePart): Promise<AvailableBytes> {
  if (part.kind === "bytes") return { promised: file.size, available: file.size };
  const wave = await readWave(file);
  if (wave) return wave;
  const available = await findZeroTail(file);
  const matroska = await readMatroska(file);
  if (matroska) return { promised: matroska.promisedBytes, available };
  const boxes = await listBoxes(file);
  const promised = Math.max(file.size, boxes.at(-1)?.end ?? 0);
  if (part.kind === "samples") return { promised, available };
  // A fragment whose data aren't complete isn't read: its times would be those of all its frames.
  const complete = boxes.filter(({ end }) => end <= available);
  const incomplete = boxes[complete.length];
  const last = complete.at(-1);
  const fragment = last?.type === "moof" ? last : incomplete;
  const isMedia = incomplete && MEDIA_TYPES.has(incomplete.type);
  if (!isMedia || !fragment) return { promised: file.size, available: file.size };
  const isFirst = !complete.some(({ type, start }) => type === "moof" && start < fragment.start);
  return { promised, available: isFirst ? available : fragment.start };
}

/** Sizes in a WAV whose size wasn't known as it was written. */
const UNKNOWN_SIZES = new Set([0, 0xff_ff_ff_ff]);

/** Compares a WAV with the size that it states. Zeros at its end are silence. Null for others. */
async function readWave(file: RangedFile): Promise<AvailableBytes | null> {
  if (file.size < 12) return null;
  const head = Buffer.from(await file.read(0, 12));
  if (head.toString("latin1", 0, 4) !== "RIFF" || head.toString("latin1", 8, 12) !== "WAVE") {
    return null;
  }
  const size = head.readUInt32LE(4);
  const promised = UNKNOWN_SIZES.has(size) ? file.size : Math.max(file.size, size + 8);
  return { promised, available: file.size };
}

/** Returns the offset of the zeros that a file ends with, its size if it ends otherwise. */
async function findZeroTail(file: RangedFile): Promise<number> {
  const isZero = async (at: number) =>
    (await file.read(at, Math.min(file.size, at + PROBE_BYTES))).every((byte) => byte === 0);
  const last = file.size - PROBE_BYTES;
  if (last <= 0 || !(await isZero(last))) return file.size;
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await isZero(middle)) high = middle;
    else low = middle;
  }
  return high;
}
