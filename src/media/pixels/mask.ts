import { LOCALIZATION } from "../../config.ts";
import type { BoundingBox, Mask, Rect } from "../../types.ts";
import { toImageError } from "../decoder-errors.ts";
import { CHANNELS } from "./jpeg.ts";
import { expandRect, type PixelRect, type Size } from "./rect.ts";

/** Returns the mask of the foreground in a box of a keyframe; null if all or none of it is. */
export async function computeMask(
  images: ImagesBinding,
  keyframe: Size & { jpeg: Uint8Array },
  box: BoundingBox,
): Promise<Mask | null> {
  const layout = planMask(keyframe, box);
  const crop = await foregroundMask(images, keyframe.jpeg, layout.inKeyframe, layout.inMask);
  const pixels = pasteMask(layout, crop);
  return pixels && encodeRle(pixels, layout.mask.width, layout.mask.height);
}

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

/**
 * Segments the foreground of a rectangle of an image and returns its mask, stretched to a size: one
 * byte a pixel, rows from the top, 255 for foreground and 0 for background. Takes one operation of
 * the binding. Throws `unreadable_image`, and `upstream_failed` or `upstream_unavailable` when a
 * retry may help.
 */
async function foregroundMask(
  images: ImagesBinding,
  image: Uint8Array,
  rect: PixelRect,
  { width, height }: Size,
): Promise<Uint8Array> {
  try {
    const result = await images
      .input(new Blob([image]).stream())
      .transform({ trim: { ...rect }, segment: "foreground", width, height, fit: "squeeze" })
      .output({ format: "rgba" });
    const rgba = new Uint8Array(await result.response().arrayBuffer());
    const expected = width * height * CHANNELS;
    if (rgba.length !== expected)
      throw new Error(`${rgba.length} bytes of pixels, not ${expected}`);
    return Uint8Array.from({ length: width * height }, (_, i) =>
      rgba[(i + 1) * CHANNELS - 1]! < 128 ? 0 : 255,
    );
  } catch (cause) {
    throw toImageError(cause);
  }
}

/** Bits of a run's length in a character of its code. */
const BITS = 5;
const CONTINUED = 1 << BITS;
const SIGN = CONTINUED >> 1;
/** Character code of a group of five zero bits: "0". */
const FIRST_CHARACTER = 48;

/**
 * Encodes a mask as COCO's compressed RLE (`rleEncode` and `rleToString` in
 * https://github.com/cocodataset/cocoapi/blob/master/common/maskApi.c). Runs of zeros and ones
 * alternate, column by column. From the fourth on, a run is the difference to the run two before.
 * Numbers are signed, with five bits per character. `pixels` has a byte per pixel, in rows from the
 * top; any value but 0 is in the mask. Throws a `RangeError` for another number of pixels.
 */
export function encodeRle(pixels: Uint8Array, width: number, height: number): Mask {
  if (pixels.length !== width * height) throw new RangeError(`${pixels.length} pixels`);
  const runs = runLengths(pixels, width);
  const counts = runs.map((run, i) => encodeNumber(i > 2 ? run - runs[i - 2]! : run)).join("");
  return { size: [height, width], counts };
}

/** Returns run lengths in column order. The first run is of zeros, and may be empty. */
function runLengths(pixels: Uint8Array, width: number): number[] {
  const runs: number[] = [];
  let isInside = false;
  let run = 0;
  for (let x = 0; x < width; x++) {
    for (let at = x; at < pixels.length; at += width) {
      if ((pixels[at] !== 0) !== isInside) {
        runs.push(run);
        isInside = !isInside;
        run = 0;
      }
      run++;
    }
  }
  return [...runs, run];
}

function encodeNumber(value: number): string {
  let text = "";
  let rest = value;
  for (let isLast = false; !isLast;) {
    const bits = rest & (CONTINUED - 1);
    rest >>= BITS;
    isLast = (bits & SIGN) === 0 ? rest === 0 : rest === -1;
    text += String.fromCharCode((isLast ? bits : bits | CONTINUED) + FIRST_CHARACTER);
  }
  return text;
}
