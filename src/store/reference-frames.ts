import type { AssetId } from "../ids.ts";
import type { AssetTimeRangeMs } from "./segments.ts";

/** Reference frames of a time range of a video. Times are ms of the video. */
export interface ReferenceFrames {
  startMs: number;
  endMs: number;
  /** Presentation times, ascending. */
  times: number[];
  /** `COPY_DETECTION.thumbnailSide`² luma values a frame, one frame after another. */
  lumaThumbnails: Uint8Array;
}

/** Replaces the reference frames of a time range. They are deleted with the asset's segments. */
export async function putReferenceFrames(
  db: D1Database,
  assetId: AssetId,
  { startMs, endMs, times, lumaThumbnails }: ReferenceFrames,
): Promise<void> {
  await db
    .prepare(
      `INSERT OR REPLACE INTO reference_frames (asset_id, start_ms, end_ms, times, luma_thumbnails)
       SELECT asset_id, ?2, ?3, ?4, ?5 FROM segments WHERE asset_id = ?1 AND position = 0`,
    )
    .bind(assetId, startMs, endMs, JSON.stringify(times), lumaThumbnails)
    .run();
}

/** Lists the rows that overlap time ranges, in the order of the ranges and of time. */
export async function listReferenceFrames(
  db: D1Database,
  ranges: AssetTimeRangeMs[],
): Promise<ReferenceFrames[]> {
  if (ranges.length === 0) return [];
  const statement = db.prepare(
    `SELECT start_ms AS startMs, end_ms AS endMs, times, luma_thumbnails AS lumaThumbnails
     FROM reference_frames
     WHERE asset_id = ? AND start_ms < ? AND end_ms > ? ORDER BY start_ms`,
  );
  const rows = await db.batch<{
    startMs: number;
    endMs: number;
    times: string;
    lumaThumbnails: number[];
  }>(ranges.map(({ assetId, startMs, endMs }) => statement.bind(assetId, endMs, startMs)));
  return rows.flatMap(({ results }) =>
    results.map(({ startMs, endMs, times, lumaThumbnails }) => {
      const parsed: number[] = JSON.parse(times);
      return { startMs, endMs, times: parsed, lumaThumbnails: Uint8Array.from(lumaThumbnails) };
    }),
  );
}
