import sharp from "sharp";
import type { Pixels } from "./image.ts";
import type { Network } from "./onnx.ts";

/** Rectangle of a text line, in pixels. */
export interface TextRegion {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const MAX_SIDE = 960;
/** Multiple of the input side: the network halves it five times. */
const STEP = 32;
const MEAN = [0.485, 0.456, 0.406] as const;
const STANDARD_DEVIATION = [0.229, 0.224, 0.225] as const;
const MIN_PIXEL = 0.3;
const MIN_REGION = 0.55;
const MIN_SIDE = 3;
/** Factor by which boxes grow: the network marks only the core of each line. */
const GROWTH = 1.6;

/**
 * Detects text lines by differentiable binarisation (Liao et al., 2020): the network gives each
 * pixel the probability of lying in the core of a line; connected components of pixels are grown by
 * area over perimeter. Returns the best first.
 */
export async function detectTextBoxes(detector: Network, pixels: Pixels): Promise<TextRegion[]> {
  const scale = Math.min(1, MAX_SIDE / Math.max(pixels.width, pixels.height));
  const width = Math.max(STEP, Math.round((pixels.width * scale) / STEP) * STEP);
  const height = Math.max(STEP, Math.round((pixels.height * scale) / STEP) * STEP);
  const small = await sharp(pixels.data, { raw: { ...pixels, channels: 3 } })
    .resize(width, height, { fit: "fill" })
    .raw()
    .toBuffer();
  const { data } = await detector.run(toPlanes(small, MEAN, STANDARD_DEVIATION), height, width);
  const components = listComponents(data, width, height);
  const [x, y] = [pixels.width / width, pixels.height / height];
  return components
    .sort((a, b) => b.score - a.score)
    .map(({ left, top, right, bottom }) => {
      const [boxWidth, boxHeight] = [right - left, bottom - top];
      const growth = (boxWidth * boxHeight * GROWTH) / (2 * (boxWidth + boxHeight));
      return {
        left: Math.max(0, Math.floor((left - growth) * x)),
        top: Math.max(0, Math.floor((top - growth) * y)),
        right: Math.min(pixels.width, Math.ceil((right + growth) * x)),
        bottom: Math.min(pixels.height, Math.ceil((bottom + growth) * y)),
      };
    })
    .filter(({ left, top, right, bottom }) => right - left >= 6 && bottom - top >= 6);
}

/** Converts interleaved RGB bytes to the normalised BGR planes that PaddleOCR expects. */
export function toPlanes(
  rgb: Uint8Array,
  mean: readonly [number, number, number],
  deviation: readonly [number, number, number],
): Float32Array {
  const size = rgb.length / 3;
  const planes = new Float32Array(rgb.length);
  for (const plane of [0, 1, 2] as const) {
    const [from, by] = [mean[plane], deviation[plane]];
    for (let at = 0; at < size; at++) {
      planes[plane * size + at] = ((rgb[at * 3 + 2 - plane] ?? 0) / 255 - from) / by;
    }
  }
  return planes;
}

interface Component extends TextRegion {
  score: number;
}

function listComponents(map: Float32Array, width: number, height: number): Component[] {
  const visited = new Uint8Array(map.length);
  const stack: number[] = [];
  const components: Component[] = [];
  const visit = (at: number) => {
    if (visited[at] || (map[at] ?? 0) < MIN_PIXEL) return;
    visited[at] = 1;
    stack.push(at);
  };
  for (let start = 0; start < map.length; start++) {
    visit(start);
    if (!stack.length) continue;
    const box = { left: width, top: height, right: 0, bottom: 0 };
    let [sum, count] = [0, 0];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const [x, y] = [at % width, Math.floor(at / width)];
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x + 1);
      box.top = Math.min(box.top, y);
      box.bottom = Math.max(box.bottom, y + 1);
      sum += map[at] ?? 0;
      count++;
      if (x > 0) visit(at - 1);
      if (x < width - 1) visit(at + 1);
      if (y > 0) visit(at - width);
      if (y < height - 1) visit(at + width);
    }
    const score = sum / count;
    const isLargeEnough = box.right - box.left >= MIN_SIDE && box.bottom - box.top >= MIN_SIDE;
    if (isLargeEnough && score >= MIN_REGION) components.push({ ...box, score });
  }
  return components;
}
