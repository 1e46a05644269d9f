import { LOCALIZATION } from "../config.ts";
import { type PixelRect, type Size, expandRect } from "../media/pixels/rect.ts";
import type { Rect } from "../types.ts";

/** Sizes of a mask, and the crop that is segmented: in pixels of the mask and of the keyframe. */
export interface MaskLayout {
  mask: Size;
  inMask: PixelRect;
  inKeyframe: PixelRect;
}

/**
 * Plans a mask of the whole keyframe, scaled to at most `LOCALIZATION.maxMaskSide`. The crop is the
 * box with a margin of `LOCALIZATION.boxMargin` of its longer side, clipped to the frame:
 * segmentation needs some background.
 */
export function planMask(keyframe: Size, box: Rect): MaskLayout {
  const scale = Math.min(1, LOCALIZATION.maxMaskSide / Math.max(keyframe.width, keyframe.height));
  const mask = {
    width: Math.max(1, Math.round(keyframe.width * scale)),
    height: Math.max(1, Math.round(keyframe.height * scale)),
  };
  const inMask = expandRect(box, mask, LOCALIZATION.boxMargin);
  const [scaleX, scaleY] = [keyframe.width / mask.width, keyframe.height / mask.height];
  const left = Math.floor(inMask.left * scaleX);
  const top = Math.floor(inMask.top * scaleY);
  const right = Math.min(keyframe.width, Math.ceil((inMask.left + inMask.width) * scaleX));
  const bottom = Math.min(keyframe.height, Math.ceil((inMask.top + inMask.height) * scaleY));
  return { mask, inMask, inKeyframe: { left, top, width: right - left, height: bottom - top } };
}

/**
 * Pastes the crop's foreground into a mask of the whole keyframe. Null if all or none is
 * foreground.
 */
export function pasteMask({ mask, inMask }: MaskLayout, crop: Uint8Array): Uint8Array | null {
  const share = crop.reduce((sum, value) => sum + Number(value > 0), 0) / crop.length;
  if (share < LOCALIZATION.minMaskShare || share > 1 - LOCALIZATION.minMaskShare) return null;
  const pixels = new Uint8Array(mask.width * mask.height);
  for (let row = 0; row < inMask.height; row++) {
    const line = crop.subarray(row * inMask.width, (row + 1) * inMask.width);
    pixels.set(line, (inMask.top + row) * mask.width + inMask.left);
  }
  return pixels;
}
