import { REGIONS } from "../config.ts";
import { type Area, type Size, withMargin } from "../media/areas.ts";
import type { Place } from "../types.ts";

/** Which part of a keyframe is looked at for a mask, and where it lies in the mask. */
export interface MaskLayout {
  mask: Size;
  inMask: Area;
  inKeyframe: Area;
}

/**
 * A mask of the whole keyframe, at most `REGIONS.maskSide` each way, and the box in it with a margin
 * on each side of `REGIONS.margin` of the box's longer side, as far as the frame goes: what stands out
 * stands out from something.
 */
export function layOutMask(keyframe: Size, box: Place): MaskLayout {
  const scale = Math.min(1, REGIONS.maskSide / Math.max(keyframe.width, keyframe.height));
  const mask = {
    width: Math.max(1, Math.round(keyframe.width * scale)),
    height: Math.max(1, Math.round(keyframe.height * scale)),
  };
  const inMask = withMargin(box, mask, REGIONS.margin);
  const [across, down] = [keyframe.width / mask.width, keyframe.height / mask.height];
  const left = Math.floor(inMask.left * across);
  const top = Math.floor(inMask.top * down);
  const right = Math.min(keyframe.width, Math.ceil((inMask.left + inMask.width) * across));
  const bottom = Math.min(keyframe.height, Math.ceil((inMask.top + inMask.height) * down));
  return { mask, inMask, inKeyframe: { left, top, width: right - left, height: bottom - top } };
}

/** A mask of the whole keyframe that has, in its area, what was found there; null where that is nothing, or all. */
export function placeMask({ mask, inMask }: MaskLayout, found: Uint8Array): Uint8Array | null {
  const share = found.reduce((sum, value) => sum + Number(value > 0), 0) / found.length;
  if (share < REGIONS.leastShare || share > 1 - REGIONS.leastShare) return null;
  const pixels = new Uint8Array(mask.width * mask.height);
  for (let row = 0; row < inMask.height; row++) {
    const line = found.subarray(row * inMask.width, (row + 1) * inMask.width);
    pixels.set(line, (inMask.top + row) * mask.width + inMask.left);
  }
  return pixels;
}
