import sharp from "sharp";
import { renderContactSheet } from "../local/engine/media-frame.ts";
import type { TimeRange } from "../src/time-range.ts";

const FRAMES_PER_SECOND = 4;
const TILE_SIDE = 24;
const COLUMNS = 10;
/** Correlation from which two frames look identical. */
const MIN_CORRELATION = 0.995;

/**
 * Extends a time range of a video, in seconds, as far as its frames stay the same. Null if
 * something moves within the range. `seconds` is the duration of the video.
 */
export async function findStaticRange(
  path: string,
  seconds: number,
  { start, end }: TimeRange,
  signal: AbortSignal,
): Promise<TimeRange | null> {
  const frames: Float64Array[] = [];
  // The engine renders at most 100 frames per request.
  for (let from = 0; from < seconds; from += 20) {
    const duration = Math.min(20, seconds - from);
    const count = Math.max(1, Math.round(duration * FRAMES_PER_SECOND));
    const size = {
      width: 2 * TILE_SIDE,
      height: 2 * TILE_SIDE,
      sizeOf: "tile",
      fit: "contain",
      format: "png",
    } as const;
    const options = { ...size, time: from, duration, count, columns: COLUMNS };
    signal.throwIfAborted();
    const { bytes, columns, rows } = await renderContactSheet(path, options);
    const grey = sharp(bytes).greyscale();
    const resized = grey.resize(columns * TILE_SIDE, rows * TILE_SIDE, { fit: "fill" });
    const pixels = await resized.raw().toBuffer();
    for (let i = 0; i < count; i++) frames.push(toUnitTile(pixels, columns, i));
  }
  const at = (time: number) => Math.min(frames.length - 1, Math.floor(time * FRAMES_PER_SECOND));
  const middle = frames[at((start + end) / 2)]!;
  const isStatic = (i: number) =>
    i >= 0 && i < frames.length && dot(frames[i]!, middle) >= MIN_CORRELATION;
  let [from, to] = [at(start), at(end)];
  for (let i = from; i <= to; i++) if (!isStatic(i)) return null;
  while (isStatic(from - 1)) from--;
  while (isStatic(to + 1)) to++;
  return { start: from / FRAMES_PER_SECOND, end: (to + 1) / FRAMES_PER_SECOND };
}

/** Cuts a tile out of a contact sheet and normalises it: mean 0, length 1. */
function toUnitTile(pixels: Buffer, columns: number, tile: number): Float64Array {
  const [x, y] = [(tile % columns) * TILE_SIDE, Math.floor(tile / columns) * TILE_SIDE];
  const values = Float64Array.from({ length: TILE_SIDE * TILE_SIDE }, (_, i) => {
    return pixels[(y + Math.floor(i / TILE_SIDE)) * columns * TILE_SIDE + x + (i % TILE_SIDE)]!;
  });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const length = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0)) || 1;
  return values.map((value) => (value - mean) / length);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
