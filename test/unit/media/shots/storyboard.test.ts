import { describe, expect, it } from "vitest";
import { drawTiles, planStoryboard } from "../../../../src/ingest/storyboard.ts";
import type { RgbaImage } from "../../../../src/media/pixels/jpeg.ts";

type Video = [durationMs: number, width: number | null, height: number | null];
type Layout = [
  tiles: number,
  columns: number,
  tileWidth: number,
  tileHeight: number,
  interval: number,
];

it.each<[string, Video, Layout]>([
  ["an empty video", [0, 1280, 720], [1, 1, 160, 90, 1]],
  ["half a second", [500, 1280, 720], [1, 1, 160, 90, 1]],
  ["ten seconds", [10_000, 1280, 720], [10, 10, 160, 90, 1]],
  ["a little more than ten seconds", [10_001, 1280, 720], [11, 10, 160, 90, 1]],
  ["100 seconds", [100_000, 1920, 1080], [100, 10, 160, 90, 1]],
  ["an hour", [3_600_000, 1920, 1080], [100, 10, 160, 90, 36]],
  ["twelve hours", [43_200_000, 1920, 1080], [100, 10, 160, 90, 432]],
  ["an upright video", [10_000, 1080, 1920], [10, 10, 90, 160, 1]],
  ["a very wide video", [10_000, 4000, 100], [10, 10, 160, 16, 1]],
  ["a small video", [10_000, 32, 32], [10, 10, 160, 160, 1]],
])("The storyboard of %s has a layout", (_, [durationMs, width, height], expected) => {
  const plan = planStoryboard({ durationMs, width, height });
  const { tiles, columns, tile_width, tile_height, interval_seconds } = plan;
  expect([tiles, columns, tile_width, tile_height, interval_seconds]).toEqual(expected);
});

/** A tile of two pixels one above the other, of one colour. */
const tile = (value: number): RgbaImage => ({
  data: new Uint8ClampedArray(8).fill(value),
  width: 1,
  height: 2,
});
const [A, B, C] = [tile(1), tile(2), tile(3)];

describe("Tiles that are drawn", () => {
  it.each<[string, (RgbaImage | null)[], number, number, number[]]>([
    ["in one row", [A, B], 2, 2, [1, 2, 1, 2]],
    ["in one column", [A, B], 1, 1, [1, 1, 2, 2]],
    ["in rows, the last one not full", [A, B, C], 2, 2, [1, 2, 1, 2, 3, 0, 3, 0]],
    ["with the one before in place of a missing one", [A, null, C], 1, 1, [1, 1, 1, 1, 3, 3]],
    ["with the next in place of a missing first", [null, B], 1, 1, [2, 2, 2, 2]],
  ])("are %s", (_, tiles, columns, width, pixels) => {
    const sheet = drawTiles(tiles, columns)!;
    expect({ width: sheet.width, height: sheet.height }).toEqual({
      width,
      height: pixels.length / width,
    });
    expect(pixels.map((_value, i) => sheet.data[i * 4])).toEqual(pixels);
  });

  it("are none if all are missing", () => {
    expect(drawTiles([], 10)).toBeNull();
    expect(drawTiles([null, null], 10)).toBeNull();
  });
});
