import { expect, it } from "vitest";
import { encodeRle } from "../../../src/media/pixels/mask.ts";
import type { Mask } from "../../../src/types.ts";

/** The function under test; the console is plain JavaScript without types. */
interface CocoRle {
  decodeMask: (mask: Mask) => Uint8Array;
}

const file = new URL("../../../console/console/player/coco-rle.js", import.meta.url).href;
const { decodeMask } = (await import(file)) as CocoRle;

it.each<[string, Mask, number[][]]>([
  [
    "an empty mask",
    { size: [2, 3], counts: "6" },
    [
      [0, 0, 0],
      [0, 0, 0],
    ],
  ],
  [
    "a full mask",
    { size: [2, 3], counts: "06" },
    [
      [1, 1, 1],
      [1, 1, 1],
    ],
  ],
  // Runs of 1, 1, 4: column by column, so the pixel is below the first one.
  [
    "one pixel",
    { size: [2, 3], counts: "114" },
    [
      [0, 0, 0],
      [1, 0, 0],
    ],
  ],
  // Runs of 1, 1, 1, 1, 2: from the fourth on as differences to the run two before.
  [
    "the lower pixels",
    { size: [2, 3], counts: "11101" },
    [
      [0, 0, 0],
      [1, 1, 0],
    ],
  ],
])("COCO run lengths of %s are decoded to rows", (_, mask, rows) => {
  expect([...decodeMask(mask)]).toEqual(rows.flat());
});

it.each([
  [1, 1],
  [7, 5],
  [64, 48],
  [3, 200],
])("A mask of %d × %d that the service encodes is decoded unchanged", (width, height) => {
  const pixels = Uint8Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return (x - width / 2) ** 2 + (y - height / 3) ** 2 < (width * height) / 9 ? 1 : 0;
  });
  expect([...decodeMask(encodeRle(pixels, width, height))]).toEqual([...pixels]);
});

it.each([
  ["too few pixels", "5"],
  ["too many pixels", "7"],
  ["an unknown character", "é"],
  ["a run below zero", "11A"],
])("A mask with %s is refused", (_, counts) => {
  expect(() => decodeMask({ size: [2, 3], counts })).toThrow(RangeError);
});
