import { traceOf, failureOf, isRetryable } from "../../errors.ts";
import { log } from "../../log.ts";
import { openContainer, requireVideoTrack } from "../../media/container/open-container.ts";
import type { RgbaImage } from "../../media/pixels/jpeg.ts";
import { measureSharpness } from "../../media/pixels/luma.ts";
import { toThumbnails } from "../../media/pixels/thumbnails.ts";
import type { TileRequest } from "../../media/shots/contact-sheet.ts";
import { detectShots, type ShotAnalysis } from "../../media/shots/detect-shots.ts";
import { mediaKey } from "../../store/r2/object-keys.ts";
import { putWindowAnalysis } from "../../store/r2/window-analysis.ts";
import type { Asset } from "../../types.ts";
import { windowRange } from "../segmentation/windows.ts";
import { requestTiles, storeTiles } from "../storyboard.ts";

/**
 * Analyses one window of a video and stores its sampled frames, shot transitions and tiles of the
 * storyboard for the steps that follow. A window that can't be decoded has none.
 */
export async function detectAssetShots(env: Env, asset: Asset, part: number, attempt: number) {
  const tiles = new Map<number, RgbaImage>();
  const request = requestTiles(asset, part, tiles);
  const analysis = analyzeWindow(env, asset, part, request).catch((error: unknown) => {
    if (isRetryable(error, attempt)) throw error;
    const fields = { asset: asset.assetId, part, code: failureOf(error).code };
    log("warn", "ingest.frames_unavailable", { ...fields, cause: traceOf(error) });
    return { frames: [], transitions: [], operations: 0 };
  });
  const { frames, transitions, operations } = await analysis;
  const summaries = toThumbnails(frames).map(({ seconds, lumaThumbnail }, i) => {
    const sharpness = Math.round(measureSharpness(frames[i]!.luma));
    return { seconds, sharpness, lumaThumbnail: btoa(String.fromCharCode(...lumaThumbnail)) };
  });
  await storeTiles(env.MEDIA, asset, part, tiles);
  await putWindowAnalysis(env.MEDIA, asset, part, {
    frames: summaries,
    transitions,
    operations,
    lumas: frames.map(({ luma }) => luma),
  });
}

async function analyzeWindow(
  env: Env,
  asset: Asset,
  part: number,
  request: TileRequest,
): Promise<ShotAnalysis> {
  const { startMs, endMs } = windowRange(asset, part);
  const range = { start: startMs / 1000, end: endMs / 1000 };
  using input = await openContainer(env.MEDIA, mediaKey(asset), range);
  return await detectShots(env, requireVideoTrack(input), range, request);
}
