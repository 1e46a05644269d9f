import type { Size } from "./rect.ts";
import { type LumaImage, resizeLuma } from "./resize-luma.ts";

/** Pixels each way of a block: less than a stroke of the smallest letters that a model reads. */
const BLOCK = 4;
/** Most by which the means of a block differ between two encodings of one image, of 255. */
const MAX_BLOCK_DIFFERENCE = 12;

/** Mean luma of the blocks of an image, for `areIdentical`. */
export interface Blocks extends Size {
  means: Uint8Array;
}

export function toBlocks(image: LumaImage): Blocks {
  const width = Math.ceil(image.width / BLOCK);
  const height = Math.ceil(image.height / BLOCK);
  return { width, height, means: resizeLuma(image, { width, height }) };
}

/**
 * Tests whether two images show the same, down to each letter of a text: every block has nearly the
 * same mean. Two encodings of one image do; where a word differs, some blocks don't.
 */
export function areIdentical(a: Blocks, b: Blocks): boolean {
  if (a.width !== b.width || a.height !== b.height) return false;
  return a.means.every((mean, i) => Math.abs(mean - b.means[i]!) <= MAX_BLOCK_DIFFERENCE);
}
