import { INGEST } from "../config.ts";
import { derivedId } from "../ids.ts";
import type { NewSegment } from "../store/segments.ts";
import type { Asset } from "../types.ts";

/** Times in ms. */
export interface Cut {
  startMs: number;
  endMs: number;
  keyframeMs: number;
}

/**
 * Cuts a video into stretches of equal length, as near to `INGEST.segmentSeconds` as they go, without
 * gap or overlap, the last one ending with the video; the middle frame stands for each.
 */
export function cutEvenly(durationMs: number): Cut[] {
  const count = Math.max(1, Math.round(durationMs / (INGEST.segmentSeconds * 1000)));
  const edge = (index: number) => Math.round((index * durationMs) / count);
  return Array.from({ length: count }, (_, index) => {
    const [startMs, endMs] = [edge(index), edge(index + 1)];
    return { startMs, endMs, keyframeMs: Math.floor((startMs + endMs) / 2) };
  });
}

/** The segments of a video. */
export function videoSegments(asset: Asset, cuts: Cut[]): Promise<NewSegment[]> {
  return Promise.all(
    cuts.map(async (cut, position) => ({ ...(await identity(asset, position)), ...cut })),
  );
}

/** An image is one segment, without times. */
export async function imageSegment(asset: Asset): Promise<NewSegment> {
  return { ...(await identity(asset, 0)), startMs: null, endMs: null, keyframeMs: 0 };
}

/** The same asset and position, the same id; it sorts by the time of the asset. */
async function identity(asset: Asset, position: number) {
  const seed = await derivedId("seg", `${asset.assetId}:${position}`);
  const time = asset.assetId.slice(4, 14);
  const segmentId = `seg_${time}${seed.slice(-16)}`;
  return { segmentId, assetId: asset.assetId, indexId: asset.indexId, position };
}
