/** Character code of five zero bits in COCO's compressed run lengths. */
const FIRST_CHARACTER = 48;

/**
 * Decodes a mask in COCO's compressed run-length encoding to a byte per pixel, 1 inside the mask, in
 * rows from the top. Throws a `RangeError` if the runs don't fill the mask.
 */
export function decodeMask({ size: [height, width], counts }) {
  const pixels = new Uint8Array(width * height);
  let at = 0;
  for (const [i, run] of readRuns(counts).entries()) {
    if (run < 0 || at + run > pixels.length) throw new RangeError("The mask has too many pixels.");
    for (const end = at + run; at < end; at++) {
      // Runs go down the columns.
      if (i % 2 === 1) pixels[(at % height) * width + Math.floor(at / height)] = 1;
    }
  }
  if (at !== pixels.length) throw new RangeError(`The mask has ${at} pixels.`);
  return pixels;
}

/** Reads run lengths. From the fourth on, a number is the difference to the run two before. */
function readRuns(counts) {
  const runs = [];
  let [value, shift] = [0, 0];
  for (const character of counts) {
    const bits = character.charCodeAt(0) - FIRST_CHARACTER;
    if (!(bits >= 0 && bits < 64)) throw new RangeError(`"${character}" isn't part of a mask.`);
    value |= (bits & 31) << shift;
    shift += 5;
    if (bits >= 32) continue;
    if ((bits & 16) !== 0) value |= -1 << shift;
    runs.push(runs.length > 2 ? value + runs.at(-2) : value);
    [value, shift] = [0, 0];
  }
  return runs;
}
