import { describe, expect, it } from "vitest";
import { resizeLuma } from "../../../../src/media/pixels/luma.ts";

type Image = [width: number, height: number, pixels: number[]];

describe("an image that is stretched", () => {
  it.each<[string, Image, Image]>([
    ["keeps its pixels at its own size", [2, 2, [0, 255, 30, 7]], [2, 2, [0, 255, 30, 7]]],
    ["has the mean of two columns", [4, 1, [0, 10, 100, 200]], [2, 1, [5, 150]]],
    ["has the mean of two rows", [1, 4, [0, 10, 100, 200]], [1, 2, [5, 150]]],
    ["has the mean of all", [2, 2, [0, 100, 200, 100]], [1, 1, [100]]],
    ["weighs pixels by the share that is covered", [3, 1, [0, 90, 240]], [2, 1, [30, 190]]],
    ["lies between its neighbours where it grows", [2, 1, [0, 100]], [4, 1, [0, 25, 75, 100]]],
    ["keeps one pixel for all", [1, 1, [77]], [3, 2, [77, 77, 77, 77, 77, 77]]],
  ])("%s", (_, [fromWidth, fromHeight, pixels], [width, height, expected]) => {
    const image = { width: fromWidth, height: fromHeight, luma: Uint8Array.from(pixels) };
    const resized = resizeLuma(image, { width, height });
    expect([...resized]).toEqual(expected);
  });
});
