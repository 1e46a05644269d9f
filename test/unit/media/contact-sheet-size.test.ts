import { describe, expect, it } from "vitest";
import { inferSizing, toRequestedSize } from "../../../src/media/frames.ts";

const TILE = { width: 43, height: 24 };
const PORTRAIT = { width: 24, height: 43 };

/** Size of a grid of tiles, as large as it can be within a size. */
function gridWithin(box: typeof TILE, tile: typeof TILE, count: number, columns: number) {
  const [width, height] = [columns * tile.width, Math.ceil(count / columns) * tile.height];
  const scale = Math.min(box.width / width, box.height / height);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

const GRIDS = [TILE, PORTRAIT, { width: 96, height: 24 }, { width: 24, height: 24 }].flatMap(
  (tile) =>
    [2, 3, 6, 20, 96].flatMap((count) =>
      [1, 2, 3, 10, 12, count].flatMap((columns) =>
        columns > count ? [] : [{ tile, count, columns }],
      ),
    ),
);

describe("the size of a contact sheet", () => {
  it.each(GRIDS)(
    "is known to be that of a tile or of the sheet: %j",
    ({ tile, count, columns }) => {
      const ofTiles = {
        width: columns * tile.width,
        height: Math.ceil(count / columns) * tile.height,
      };
      expect(inferSizing(ofTiles, tile, count)).toBe("tile");
      expect(inferSizing(gridWithin(tile, tile, count, columns), tile, count)).toBe("sheet");
      const requested = toRequestedSize("sheet", tile, count);
      const whole = gridWithin(requested, tile, count, columns);
      expect(inferSizing(whole, requested, count)).toBe("sheet");
      const tileOfRequested = gridWithin(requested, tile, 1, 1);
      const tooLarge = {
        width: columns * tileOfRequested.width,
        height: Math.ceil(count / columns) * tileOfRequested.height,
      };
      expect(inferSizing(tooLarge, requested, count)).toBe("tile");
    },
  );

  it.each(GRIDS)("leaves the tiles of a whole sheet as large: %j", ({ tile, count, columns }) => {
    const requested = toRequestedSize("sheet", tile, count);
    const { width } = gridWithin(requested, tile, count, columns);
    // A row or column of 96 meets the limit of 2,000 pixels.
    const isLimited = count === 96 && (columns === 1 || columns === count);
    expect(width / columns).toBeGreaterThan(tile.width * (isLimited ? 0.2 : 0.9));
    expect(Math.max(requested.width, requested.height)).toBeLessThanOrEqual(2000);
  });

  it("isn't known from one tile", () => {
    expect(inferSizing(TILE, TILE, 1)).toBeNull();
  });
});
