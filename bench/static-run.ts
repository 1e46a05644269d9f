import sharp from "sharp";
import { takeSheet } from "../local/engine/media-frame.ts";

const PER_SECOND = 4;
const SIDE = 24;
const COLUMNS = 10;
/** Correlation from which nobody sees a difference. */
const SAME = 0.995;

interface Stretch {
  start: number;
  end: number;
}

/**
 * How far a film (its path, its length) shows the same picture around a stretch, in seconds; null where
 * something moves in the stretch itself.
 */
export async function staticRun(
  path: string,
  seconds: number,
  { start, end }: Stretch,
  signal: AbortSignal,
): Promise<Stretch | null> {
  const pictures: Float64Array[] = [];
  // The engine makes 100 pictures at once at most.
  for (let from = 0; from < seconds; from += 20) {
    const duration = Math.min(20, seconds - from);
    const count = Math.max(1, Math.round(duration * PER_SECOND));
    const size = { width: 2 * SIDE, height: 2 * SIDE, fit: "contain", format: "png" } as const;
    const wanted = { ...size, time: from, duration, count, columns: COLUMNS };
    const { bytes, columns, rows } = await takeSheet(path, wanted, signal);
    const sheet = sharp(bytes).greyscale();
    const resized = sheet.resize(columns * SIDE, rows * SIDE, { fit: "fill" });
    const pixels = await resized.raw().toBuffer();
    for (let i = 0; i < count; i++) pictures.push(tileOf(pixels, columns, i));
  }
  const at = (time: number) => Math.min(pictures.length - 1, Math.floor(time * PER_SECOND));
  const middle = pictures[at((start + end) / 2)]!;
  const isSame = (i: number) => i >= 0 && i < pictures.length && dot(pictures[i]!, middle) >= SAME;
  let [from, to] = [at(start), at(end)];
  for (let i = from; i <= to; i++) if (!isSame(i)) return null;
  while (isSame(from - 1)) from--;
  while (isSame(to + 1)) to++;
  return { start: from / PER_SECOND, end: (to + 1) / PER_SECOND };
}

/** A tile of a sheet, without its mean, as a unit vector. */
function tileOf(pixels: Buffer, columns: number, tile: number): Float64Array {
  const [left, top] = [(tile % columns) * SIDE, Math.floor(tile / columns) * SIDE];
  const values = Float64Array.from({ length: SIDE * SIDE }, (_, i) => {
    return pixels[(top + Math.floor(i / SIDE)) * columns * SIDE + left + (i % SIDE)]!;
  });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const length = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0)) || 1;
  return values.map((value) => (value - mean) / length);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
