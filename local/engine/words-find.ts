import type { Network } from "./onnx.ts";
import sharp from "sharp";
import type { Pixels } from "./picture.ts";

/** A line of words, in pixels. */
export interface Region {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const MAX_SIDE = 960;
/** The network halves its input five times. */
const STEP = 32;
const MEAN = [0.485, 0.456, 0.406] as const;
const SPREAD = [0.229, 0.224, 0.225] as const;
const MIN_PIXEL = 0.3;
const MIN_REGION = 0.55;
const MIN_SIDE = 3;
/** How far a region grows, because the network marks only the heart of each line. */
const GROWTH = 1.6;

/**
 * Differentiable binarization (Liao et al., 2020): a probability for every pixel to be in the heart
 * of a line of words, then connected components, grown by area over perimeter. Best first.
 */
export async function findRegions(finder: Network, pixels: Pixels): Promise<Region[]> {
  const scale = Math.min(1, MAX_SIDE / Math.max(pixels.width, pixels.height));
  const width = Math.max(STEP, Math.round((pixels.width * scale) / STEP) * STEP);
  const height = Math.max(STEP, Math.round((pixels.height * scale) / STEP) * STEP);
  const small = await sharp(pixels.data, { raw: { ...pixels, channels: 3 } })
    .resize(width, height, { fit: "fill" })
    .raw()
    .toBuffer();
  const { data } = await finder.run(toPlanes(small, MEAN, SPREAD), height, width);
  const components = listComponents(data, width, height);
  const [x, y] = [pixels.width / width, pixels.height / height];
  return components
    .sort((a, b) => b.score - a.score)
    .map(({ left, top, right, bottom }) => {
      const [across, down] = [right - left, bottom - top];
      const growth = (across * down * GROWTH) / (2 * (across + down));
      return {
        left: Math.max(0, Math.floor((left - growth) * x)),
        top: Math.max(0, Math.floor((top - growth) * y)),
        right: Math.min(pixels.width, Math.ceil((right + growth) * x)),
        bottom: Math.min(pixels.height, Math.ceil((bottom + growth) * y)),
      };
    })
    .filter(({ left, top, right, bottom }) => right - left >= 6 && bottom - top >= 6);
}

/** Interleaved RGB bytes to the normalised blue, green and red planes that PaddleOCR expects. */
export function toPlanes(
  rgb: Uint8Array,
  mean: readonly [number, number, number],
  spread: readonly [number, number, number],
): Float32Array {
  const size = rgb.length / 3;
  const planes = new Float32Array(rgb.length);
  for (const plane of [0, 1, 2] as const) {
    const [from, by] = [mean[plane], spread[plane]];
    for (let at = 0; at < size; at++) {
      planes[plane * size + at] = ((rgb[at * 3 + 2 - plane] ?? 0) / 255 - from) / by;
    }
  }
  return planes;
}

interface Component extends Region {
  score: number;
}

function listComponents(map: Float32Array, width: number, height: number): Component[] {
  const seen = new Uint8Array(map.length);
  const stack: number[] = [];
  const components: Component[] = [];
  const visit = (at: number) => {
    if (seen[at] || (map[at] ?? 0) < MIN_PIXEL) return;
    seen[at] = 1;
    stack.push(at);
  };
  for (let start = 0; start < map.length; start++) {
    visit(start);
    if (!stack.length) continue;
    const one = { left: width, top: height, right: 0, bottom: 0 };
    let [sum, count] = [0, 0];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const [x, y] = [at % width, Math.floor(at / width)];
      one.left = Math.min(one.left, x);
      one.right = Math.max(one.right, x + 1);
      one.top = Math.min(one.top, y);
      one.bottom = Math.max(one.bottom, y + 1);
      sum += map[at] ?? 0;
      count++;
      if (x > 0) visit(at - 1);
      if (x < width - 1) visit(at + 1);
      if (y > 0) visit(at - width);
      if (y < height - 1) visit(at + width);
    }
    const score = sum / count;
    const wide = one.right - one.left >= MIN_SIDE && one.bottom - one.top >= MIN_SIDE;
    if (wide && score >= MIN_REGION) components.push({ ...one, score });
  }
  return components;
}
