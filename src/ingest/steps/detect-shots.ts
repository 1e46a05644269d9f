import { traceOf, failureOf, isRetryable } from "../../errors.ts";
import { log } from "../../log.ts";
import { openContainer, requireVideoTrack } from "../../media/container/open-container.ts";
import { measureSharpness } from "../../media/pixels/high-pass.ts";
import type { RgbaImage } from "../../media/pixels/jpeg.ts";
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
export async function detectAssetShots(
  env: Env,
  asset: Asset,
  part: number,
  attempt: number,
): Promise<void> {
  const tiles = new Map<number, RgbaImage>();
  const request = requestTiles(asset, part, tiles);
  const { frames, transitions, operations } = await analyzeWindow(env, asset, part, {
    attempt,
    request,
  });
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
  { attempt, request }: { attempt: number; request: TileRequest },
): Promise<ShotAnalysis> {
  const { startMs, endMs } = windowRange(asset, part);
  const range = { start: startMs / 1000, end: endMs / 1000 };
  try {
    using input = await openContainer(env.MEDIA, mediaKey(asset), range);
    const track = requireVideoTrack(input);
    return await detectShots(env, track, range, request);
  } catch (error) {
    if (isRetryable(error, attempt)) throw error;
    const fields = { asset: asset.assetId, part, code: failureOf(error).code };
    log("warn", "ingest.frames_unavailable", { ...fields, cause: traceOf(error) });
    return { frames: [], transitions: [], operations: 0 };
  }
}
