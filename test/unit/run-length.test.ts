import { describe, expect, it } from "vitest";
import { encodeMask } from "../../src/search/run-length.ts";
import { decodeMask } from "../coco-mask.ts";

/** A repeatable stream of numbers from 0 to 1 (Numerical Recipes' generator). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

const pixelsOf = (rows: string[]) => Uint8Array.from(rows.join(""), (c) => Number(c === "#"));

describe("a mask in run lengths", () => {
  it.each<[string[], string]>([
    [["...."], "4"],
    [["####"], "04"],
    [["....", ".##.", ".##."], "42102"],
    [["#...", "....", "...#"], "01:0"],
    [["#.#.#.#.", ".#.#.#.#"], "012100000O"],
    [["..##..", ".####.", "######", ".####.", "..##.."], "2132N70I2NO"],
  ])("of %j is what pycocotools 2.0.11 writes", (rows, counts) => {
    const [width, height] = [rows[0]!.length, rows.length];
    expect(encodeMask(pixelsOf(rows), width, height)).toEqual({ size: [height, width], counts });
  });

  it.each<[string, number, string]>([
    ["nothing", 0, "PhX5"],
    ["all", 255, "0PhX5"],
  ])("of %s is short", (_, value, counts) => {
    expect(encodeMask(new Uint8Array(480 * 360).fill(value), 480, 360)).toMatchObject({ counts });
  });

  it.each([0.5, 0.1, 0.003])(
    "is read back as it was, where a pixel in %d begins a run",
    (share) => {
      const next = numbers(1 / share);
      for (let i = 0; i < 60; i++) {
        const [width, height] = [1 + Math.floor(next() * 70), 1 + Math.floor(next() * 70)];
        let isIn = 0;
        const pixels = Uint8Array.from({ length: width * height }, () => {
          if (next() < share) isIn = 1 - isIn;
          return isIn;
        });
        expect(decodeMask(encodeMask(pixels, width, height))).toEqual(pixels);
      }
    },
  );

  it("wants as many pixels as there are", () => {
    expect(() => encodeMask(new Uint8Array(5), 2, 3)).toThrow(RangeError);
  });
});
