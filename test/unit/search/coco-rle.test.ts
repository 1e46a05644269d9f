import { describe, expect, it } from "vitest";
import { encodeRle } from "../../../src/media/pixels/mask.ts";
import { decodeMask } from "../../support/coco-mask.ts";

/** Returns a seeded generator of numbers from 0 to 1 (Numerical Recipes). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

const toPixels = (rows: string[]) =>
  Uint8Array.from(rows.join(""), (character) => Number(character === "#"));

describe("a run-length encoded mask", () => {
  it.each<[string[], string]>([
    [["...."], "4"],
    [["####"], "04"],
    [["....", ".##.", ".##."], "42102"],
    [["#...", "....", "...#"], "01:0"],
    [["#.#.#.#.", ".#.#.#.#"], "012100000O"],
    [["..##..", ".####.", "######", ".####.", "..##.."], "2132N70I2NO"],
  ])("of %j equals the output of pycocotools 2.0.11", (rows, counts) => {
    const [width, height] = [rows[0]!.length, rows.length];
    expect(encodeRle(toPixels(rows), width, height)).toEqual({ size: [height, width], counts });
  });

  it.each<[string, number, string]>([
    ["zeros", 0, "PhX5"],
    ["ones", 255, "0PhX5"],
  ])("of only %s is at most two runs long", (_, value, counts) => {
    expect(encodeRle(new Uint8Array(480 * 360).fill(value), 480, 360)).toMatchObject({ counts });
  });

  it.each([0.5, 0.1, 0.003])(
    "is decoded without loss if a share of %d of its pixels starts a run",
    (share) => {
      const random = seededRandom(1 / share);
      for (let i = 0; i < 60; i++) {
        const [width, height] = [1 + Math.floor(random() * 70), 1 + Math.floor(random() * 70)];
        let value = 0;
        const pixels = Uint8Array.from({ length: width * height }, () => {
          if (random() < share) value = 1 - value;
          return value;
        });
        expect(decodeMask(encodeRle(pixels, width, height))).toEqual(pixels);
      }
    },
  );

  it("of another number of pixels throws a RangeError", () => {
    expect(() => encodeRle(new Uint8Array(5), 2, 3)).toThrow(RangeError);
  });
});
