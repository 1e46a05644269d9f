import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { encodeJpeg, type RgbaImage } from "../media/pixels/jpeg.ts";
import type { TileRequest } from "../media/shots/contact-sheet.ts";
import { drawTiles, planStoryboard, splitTiles, tileTimes } from "../media/shots/storyboard.ts";
import { STORYBOARD_TILES } from "../parameters.ts";
import { updateProperties } from "../store/d1/assets.ts";
import { putStoryboard } from "../store/r2/object-keys.ts";
import { getWindowTiles, putWindowTiles } from "../store/r2/window-analysis.ts";
import { STORYBOARD, type Storyboard } from "../storyboard.ts";
import type { Asset } from "../types.ts";
import { countWindows, windowRange } from "./segmentation/windows.ts";

/** Tiles of a storyboard by their times in seconds. */
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
export async function storeTiles(
  bucket: R2Bucket,
  asset: Asset,
  window: number,
  tiles: Tiles,
): Promise<void> {
  const times = windowTimes(asset, planStoryboard(asset), window);
  const column = drawTiles(
    times.map((time) => tiles.get(time) ?? null),
    1,
  );
  if (column) await putWindowTiles(bucket, asset, window, column.data);
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
    const data = count > 0 ? await getWindowTiles(MEDIA, asset, window) : null;
    return data ? splitTiles(data, storyboard) : Array.from({ length: count }, () => null);
  });
  const image = drawTiles(tiles.flat(), storyboard.columns);
  if (!image) return;
  await putStoryboard(MEDIA, asset, await encodeJpeg(image, STORYBOARD_TILES.quality));
  const technical = { ...asset.technical, [STORYBOARD]: { ...storyboard } };
  await updateProperties(DB, asset.assetId, { technical });
}

function windowTimes(asset: Asset, storyboard: Storyboard, window: number): number[] {
  const { startMs, endMs } = windowRange(asset, window);
  return tileTimes(storyboard, { start: startMs / 1000, end: endMs / 1000 });
}
