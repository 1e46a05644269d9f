import type { Mask } from "../types.ts";

const BITS = 5;
const CONTINUED = 1 << BITS;
const SIGN = CONTINUED >> 1;
/** Each five bits are a character from "0" on. */
const FIRST_CHARACTER = 48;

/**
 * A mask as COCO's API compresses it (`rleEncode` and `rleToString` in
 * https://github.com/cocodataset/cocoapi/blob/master/common/maskApi.c): the lengths of the runs of
 * zeros and ones in turn, column by column, each from the fourth on as the difference to the one
 * before the last, as signed numbers of five bits a character. `pixels` has a byte a pixel, rows from
 * the top; all but 0 is in the mask. Throws a `RangeError` for another number of pixels.
 */
export function encodeMask(pixels: Uint8Array, width: number, height: number): Mask {
  if (pixels.length !== width * height) throw new RangeError(`${pixels.length} pixels`);
  const runs = runsOf(pixels, width);
  const counts = runs.map((run, i) => toText(i > 2 ? run - runs[i - 2]! : run)).join("");
  return { size: [height, width], counts };
}

/** Begins with the run of zeros, which may be of none. */
function runsOf(pixels: Uint8Array, width: number): number[] {
  const runs: number[] = [];
  let isIn = false;
  let run = 0;
  for (let x = 0; x < width; x++) {
    for (let at = x; at < pixels.length; at += width) {
      if ((pixels[at] !== 0) !== isIn) {
        runs.push(run);
        isIn = !isIn;
        run = 0;
      }
      run++;
    }
  }
  return [...runs, run];
}

function toText(value: number): string {
  let text = "";
  let rest = value;
  for (let isOver = false; !isOver;) {
    const part = rest & (CONTINUED - 1);
    rest >>= BITS;
    isOver = (part & SIGN) === 0 ? rest === 0 : rest === -1;
    text += String.fromCharCode((isOver ? part : part | CONTINUED) + FIRST_CHARACTER);
  }
  return text;
}
