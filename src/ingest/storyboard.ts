import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import type { Storyboard } from "../derived-media.ts";
import { partitionPoint } from "../lists.ts";
import {
  decodeJpeg,
  drawImage,
  encodeJpeg,
  type RgbaImage,
  CHANNELS,
  resizeImage,
} from "../media/pixels/jpeg.ts";
import { STORYBOARD_TILES } from "../parameters.ts";
import { updateProperties } from "../store/d1/assets.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { listSegments } from "../store/index-database/segments.ts";
import { getKeyframe, putObject, storyboardKey } from "../store/r2/object-keys.ts";
import type { Asset } from "../types.ts";

/**
 * Makes the storyboard of a video, in which each tile is the keyframe of the segment at its time,
 * and records its layout. Changes nothing without keyframes: none could be decoded.
 */
export async function storeStoryboard(env: Env, asset: Asset): Promise<void> {
  const storyboard = planStoryboard(asset);
  const size = { width: storyboard.tile_width, height: storyboard.tile_height };
  const segments = await listSegments(indexDatabase(env, asset), asset.assetId);
  const shown = Array.from({ length: storyboard.tiles }, (_, tile) => {
    const ms = 1000 * tile * storyboard.interval_seconds;
    return segments[partitionPoint(segments, ({ startMs }) => startMs! <= ms) - 1];
  });
  const images = new Map(
    await mapConcurrent([...new Set(shown)], CONNECTIONS, async (segment) => {
      const jpeg = segment && (await getKeyframe(env.MEDIA, asset, segment.keyframeMs));
      const tile = jpeg ? await decodeJpeg(jpeg, (image) => resizeImage(image, size)) : null;
      return [segment, tile] as const;
    }),
  );
  const tiles = shown.map((segment) => images.get(segment) ?? null);
  const image = drawTiles(tiles, storyboard.columns);
  if (!image) return;
  const jpeg = await encodeJpeg(image, STORYBOARD_TILES.quality);
  await putObject(env.MEDIA, storyboardKey(asset), jpeg, "image/jpeg");
  const technical = { ...asset.technical, storyboard: { ...storyboard } };
  await updateProperties(env.DB, asset.assetId, { technical });
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
