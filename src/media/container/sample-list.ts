import type { TimeRange } from "../../time-range.ts";
import type { AvailableBytes } from "./available-bytes.ts";
import { findBox, type Mp4Box, type RangedFile, readContent } from "./mp4-boxes.ts";

/** Samples of a track of an MP4, in order of decoding, by their tables. */
interface SampleList {
  count: number;
  /** Offset of a sample in the file, and its length in bytes. */
  locate: (sample: number) => { offset: number; bytes: number };
  /** Decoding time of a sample, in units of the track. */
  timeOf: (sample: number) => number;
}

/** Reads the tables of a `trak` box: 8 bytes a sample. Throws `RangeError` for damaged tables. */
async function listSamples(file: RangedFile, track: Mp4Box): Promise<SampleList | null> {
  const tables = findBox(track, "mdia", "minf", "stbl");
  const table = (type: string) => tables && findBox(tables, type);
  const [times, chunks, sizes] = [table("stts"), table("stsc"), table("stsz")];
  const offsets = table("stco") ?? table("co64");
  if (!times || !chunks || !sizes || !offsets) return null;
  const [timeView, chunkView, sizeView, offsetView] = await Promise.all(
    [times, chunks, sizes, offsets].map((box) => readContent(file, box)),
  );
  const commonBytes = sizeView!.getUint32(4);
  const bytesOf = (sample: number) => commonBytes || sizeView!.getUint32(12 + sample * 4);
  const is64Bit = offsets.type === "co64";
  const chunkOffset = (chunk: number) =>
    is64Bit
      ? Number(offsetView!.getBigUint64(8 + chunk * 8))
      : offsetView!.getUint32(8 + chunk * 4);
  const chunkCount = offsetView!.getUint32(4);
  const positions = new Float64Array(sizeView!.getUint32(8));
  const runCount = chunkView!.getUint32(4);
  let sample = 0;
  for (let run = 0; run < runCount; run++) {
    const first = chunkView!.getUint32(8 + run * 12) - 1;
    const end = run + 1 < runCount ? chunkView!.getUint32(20 + run * 12) - 1 : chunkCount;
    const perChunk = chunkView!.getUint32(12 + run * 12);
    for (let chunk = first; chunk < Math.min(end, chunkCount); chunk++) {
      let offset = chunkOffset(chunk);
      for (let i = 0; i < perChunk && sample < positions.length; i++, sample++) {
        positions[sample] = offset;
        offset += bytesOf(sample);
      }
    }
  }
  return {
    count: sample,
    locate: (index) => ({ offset: positions[index]!, bytes: bytesOf(index) }),
    timeOf: (index) => timeOf(timeView!, index),
  };
}

function timeOf(view: DataView, sample: number): number {
  let [time, left] = [0, sample];
  for (let entry = 0; entry < view.getUint32(4) && left > 0; entry++) {
    const count = Math.min(left, view.getUint32(8 + entry * 8));
    time += count * view.getUint32(12 + entry * 8);
    left -= count;
  }
  return time;
}

/**
 * Returns when the first sample of a track that isn't in the file would be decoded, in units of the
 * track. Null if all are there.
 */
export async function firstMissingTime(
  file: RangedFile,
  track: Mp4Box,
  { promised, available }: AvailableBytes,
): Promise<number | null> {
  if (promised <= available && (await lastChunkOffset(file, track)) < available) return null;
  const samples = await listSamples(file, track);
  if (!samples) return null;
  for (let sample = 0; sample < samples.count; sample++) {
    const { offset, bytes } = samples.locate(sample);
    if (offset + bytes > available) return samples.timeOf(sample);
  }
  return null;
}

/** Samples that are read to find a hole, and the bytes of each. */
const PROBES = 32;
const PROBE_BYTES = 64;
/** Smaller samples may be zeros: they repeat the picture. */
const MIN_SAMPLE_BYTES = 16;

/**
 * Returns the decoding times (units of the track) between which all samples are zeros, of the first
 * such hole that a few samples from all over the track show. Null without one.
 */
export async function findZeroSamples(file: RangedFile, track: Mp4Box): Promise<TimeRange | null> {
  const samples = await listSamples(file, track);
  if (!samples || samples.count === 0) return null;
  const { count, locate, timeOf } = samples;
  const isSmall = (sample: number) => locate(sample).bytes < MIN_SAMPLE_BYTES;
  const isZero = async (sample: number) => {
    const { offset, bytes } = locate(sample);
    if (offset >= file.size) return false;
    const head = await file.read(offset, offset + Math.min(bytes, PROBE_BYTES), "once");
    return head.every((byte) => byte === 0);
  };
  const step = Math.max(1, Math.floor(count / PROBES));
  for (let probe = 0; probe < count; probe += step) {
    if (isSmall(probe) || !(await isZero(probe))) continue;
    let [start, end] = [probe, probe + 1];
    while (start > 0 && probe - start < step && (await isZero(start - 1))) start--;
    while (end < count && (await isZero(end))) end++;
    return { start: timeOf(start), end: timeOf(end) };
  }
  return null;
}

async function lastChunkOffset(file: RangedFile, track: Mp4Box): Promise<number> {
  const tables = findBox(track, "mdia", "minf", "stbl");
  const offsets = tables && (findBox(tables, "stco") ?? findBox(tables, "co64"));
  if (!offsets) return 0;
  const [count, bytes] = [
    (await readContent(file, offsets, 4, 8)).getUint32(0),
    offsets.type === "co64" ? 8 : 4,
  ];
  if (count === 0) return 0;
  const view = await readContent(file, offsets, 8 + (count - 1) * bytes, 8 + count * bytes);
  return bytes === 8 ? Number(view.getBigUint64(0)) : view.getUint32(0);
}
