import { STORYBOARD_TILES } from "../../parameters.ts";
import type { Storyboard } from "../../storyboard.ts";
import type { TimeRange } from "../../time-range.ts";
import type { Asset } from "../../types.ts";
import { drawImage } from "../pixels/crop-image.ts";
import { CHANNELS, type RgbaImage } from "../pixels/jpeg.ts";

const { maxTiles, maxColumns, longSide, minShortSide, minIntervalMs } = STORYBOARD_TILES;

/** Returns the layout of the storyboard of a video; sides are in pixels. */
export function planStoryboard({
  durationMs,
  width,
  height,
}: Pick<Asset, "durationMs" | "width" | "height">): Storyboard {
  const intervalMs = Math.max(minIntervalMs, Math.ceil(durationMs / maxTiles));
  const tiles = Math.max(1, Math.ceil(durationMs / intervalMs));
  const long = Math.max(width ?? 1, height ?? 1);
  const toSide = (side: number | null) =>
    Math.max(minShortSide, Math.round(((side ?? 1) / long) * longSide));
  return {
    tiles,
    columns: Math.min(tiles, maxColumns),
    tile_width: toSide(width),
    tile_height: toSide(height),
    interval_seconds: intervalMs / 1000,
  };
}

/** Returns the times in seconds that the tiles show within a range, whose end isn't part of it. */
export function tileTimes(
  { tiles, interval_seconds: interval }: Storyboard,
  { start, end }: TimeRange,
): number[] {
  const times = Array.from({ length: tiles }, (_, tile) => tile * interval);
  return times.filter((time) => time >= start && time < end);
}

/**
 * Draws tiles of one size in rows of `columns`. A missing tile shows the one before it, or the
 * first there is. Returns null if all are missing.
 */
export function drawTiles(tiles: readonly (RgbaImage | null)[], columns: number): RgbaImage | null {
  let shown = tiles.find((tile) => tile !== null);
  if (!shown) return null;
  const { width, height } = shown;
  const size = { width: columns * width, height: Math.ceil(tiles.length / columns) * height };
  const sheet = { ...size, data: new Uint8ClampedArray(size.width * size.height * CHANNELS) };
  for (const [i, tile] of tiles.entries()) {
    shown = tile ?? shown;
    drawImage(sheet, shown, {
      left: (i % columns) * width,
      top: Math.floor(i / columns) * height,
    });
  }
  return sheet;
}

/** Divides the pixels of tiles that were drawn in one column. */
export function splitTiles(
  pixels: Uint8Array,
  { tile_width: width, tile_height: height }: Storyboard,
): RgbaImage[] {
  const tileBytes = width * height * CHANNELS;
  return Array.from({ length: Math.floor(pixels.length / tileBytes) }, (_, i) => {
    const tile = pixels.subarray(i * tileBytes, (i + 1) * tileBytes);
    const data = new Uint8ClampedArray(tile.buffer, tile.byteOffset, tile.length);
    return { data, width, height };
  });
}
