import type { Mask } from "../types.ts";

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
