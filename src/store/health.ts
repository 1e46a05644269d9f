/** What a segment should have beside its row, and what of it the database knows to be there. */
export interface SegmentHealth {
  segmentId: string;
  keyframeMs: number;
  /** 1 where it has: the words of each kind, a keyframe that could be seen, its row in the full-text index. */
  caption: number;
  speech: number;
  text: number;
  seen: number;
  indexed: number;
  /** That made its picture's vector; null where there is none. */
  pictureModel: string | null;
}

/** Of an asset, in order. */
export async function listSegmentHealth(db: D1Database, assetId: string): Promise<SegmentHealth[]> {
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId, keyframe_ms AS keyframeMs, caption <> '' AS caption,
         transcript <> '' AS speech, on_screen_text <> '' AS text, problem IS NULL AS seen,
         EXISTS (SELECT 1 FROM segment_words WHERE segment_words.rowid = segments.rowid) AS indexed,
         picture_model AS pictureModel
       FROM segments WHERE asset_id = ? ORDER BY position`,
    )
    .bind(assetId)
    .all<SegmentHealth>();
  return results;
}
