import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import type { Storyboard } from "../derived-media.ts";
import { drawImage, encodeJpeg, type RgbaImage, CHANNELS } from "../media/pixels/jpeg.ts";
import type { TileRequest } from "../media/shots/contact-sheet.ts";
import { STORYBOARD_TILES } from "../parameters.ts";
import { updateProperties } from "../store/d1/assets.ts";
import { putObject, storyboardKey } from "../store/r2/object-keys.ts";
import { getAnalysisBytes, putAnalysisBytes } from "../store/r2/window-analysis.ts";
import type { TimeRange } from "../time-range.ts";
import type { Asset } from "../types.ts";
import { countWindows, windowRange } from "./windows.ts";

type Tiles = Map<number, RgbaImage>;

/** Requests the tiles that a window of a video has, and collects them in `tiles`. */
export function requestTiles(asset: Asset, window: number, tiles: Tiles): TileRequest {
  const storyboard = planStoryboard(asset);
  return {
    times: windowTimes(asset, storyboard, window),
    size: { width: storyboard.tile_width, height: storyboard.tile_height },
    onTile: (seconds, tile) => tiles.set(seconds, tile),
  };
}

/** Stores the tiles of a window until the ingest ends. A window without tiles stores nothing. */
export async function storeTiles(bucket: R2Bucket, asset: Asset, window: number, tiles: Tiles) {
  const times = windowTimes(asset, planStoryboard(asset), window);
  const column = drawTiles(
    times.map((time) => tiles.get(time) ?? null),
    1,
  );
  if (column) await putAnalysisBytes(bucket, asset, window, "tiles", column.data);
}

/**
 * Makes the storyboard of a video of the tiles of its windows, and records its layout. Changes
 * nothing without tiles: none could be decoded, or the ingest has ended before.
 */
export async function storeStoryboard({ DB, MEDIA }: Env, asset: Asset): Promise<void> {
  const storyboard = planStoryboard(asset);
  const windows = Array.from({ length: countWindows(asset) }, (_, window) => window);
  const tiles = await mapConcurrent(windows, CONNECTIONS, async (window) => {
    const { length: count } = windowTimes(asset, storyboard, window);
    const data = count > 0 ? await getAnalysisBytes(MEDIA, asset, window, "tiles") : null;
    return data ? splitTiles(data, storyboard) : Array.from({ length: count }, () => null);
  });
  const image = drawTiles(tiles.flat(), storyboard.columns);
  if (!image) return;
  const jpeg = await encodeJpeg(image, STORYBOARD_TILES.quality);
  await putObject(MEDIA, storyboardKey(asset), jpeg, "image/jpeg");
  const technical = { ...asset.technical, storyboard: { ...storyboard } };
  await updateProperties(DB, asset.assetId, { technical });
}

function windowTimes(asset: Asset, storyboard: Storyboard, window: number): number[] {
  const { startMs, endMs } = windowRange(asset, window);
  return tileTimes(storyboard, { start: startMs / 1000, end: endMs / 1000 });
}

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
