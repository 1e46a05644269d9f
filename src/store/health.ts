import type { AssetId, SegmentId } from "../ids.ts";
import type { Asset, BoundingBox } from "../types.ts";
import { type Databases, indexDatabase, type IndexDb } from "./index-database/index-database.ts";
import { HAS_KEYFRAME, listOf, ofAsset } from "./index-database/segments.ts";
import { inList, parseColumns, raw, sql, d1 } from "./sql.ts";
import { listAbandonedJobs } from "./transcript-replacement.ts";

/**
 * Content that a segment should have in other stores, as the index's database knows it. Flags are 0
 * or 1.
 */
export interface SegmentHealth {
  segmentId: SegmentId;
  keyframeMs: number;
  boxes: BoundingBox[];
  caption: number;
  speech: number;
  text: number;
  /** Whether the keyframe was described without an error. */
  described: number;
  /** Whether the ingest has come to describe it, or failed to. */
  isFinal: number;
  /** Whether the keyframe is stored, described or not. */
  hasKeyframe: number;
  /** Whether the full text has the segment's present text. */
  indexed: number;
  hasSignature: number;
  /** Whether an abandoned job changed the transcript without updating the vectors. */
  unembedded: number;
  textModel: string | null;
  imageModel: string | null;
  /** When vectors were last written or deleted: Vectorize shows that later. Epoch ms. */
  vectorsAt: number;
}

export async function listSegmentHealth(
  env: Databases,
  asset: Pick<Asset, "indexId" | "assetId" | "shard">,
  now: number,
): Promise<SegmentHealth[]> {
  const { assetId } = asset;
  const db = indexDatabase(env, asset);
  const abandoned = await listAbandonedJobs(env.DB, db, assetId, now);
  const rows = await db.allByPosition<SegmentHealth & { position: number }>(
    (after) => sql`SELECT segment_id AS segmentId, position, keyframe_ms AS keyframeMs,
        ${raw(listOf("boxes"))} AS boxes, caption <> '' AS caption,
        transcript <> '' AS speech, on_screen_text <> '' AS text, error IS NULL AS described,
        described_at IS NOT NULL AS isFinal,
        ${raw(HAS_KEYFRAME)} AS hasKeyframe,
        indexed AND EXISTS (SELECT 1 FROM segment_fts_docsize WHERE id = segment_key) AS indexed,
        EXISTS (
          SELECT 1 FROM signatures
          WHERE signatures.segment_key = segments.segment_key AND frame_ms IS NULL
        ) AS hasSignature,
        EXISTS (
          SELECT 1 FROM unembedded_speech
          WHERE unembedded_speech.segment_key = segments.segment_key AND job_id ${inList(abandoned)}
        ) AS unembedded,
        text_model AS textModel, image_model AS imageModel, vectors_at AS vectorsAt
      FROM segments WHERE ${ofAsset(assetId)} AND position > ${after} ORDER BY position`,
  );
  return rows.map((row) => {
    const { position: _, ...columns } = row;
    return parseColumns(columns, ["boxes"]);
  });
}

export async function wasRestarted(db: D1Database, assetId: AssetId): Promise<boolean> {
  const restartedAt = await d1(db).firstValue<number>`
    SELECT restarted_at AS restartedAt FROM assets WHERE asset_id = ${assetId}`;
  return restartedAt !== null;
}

export async function recordRestart(db: D1Database, assetId: AssetId, now: number): Promise<void> {
  await d1(db).run`UPDATE assets SET restarted_at = ${now} WHERE asset_id = ${assetId}`;
}

export async function reindexFullText(db: IndexDb, segmentIds: readonly string[]): Promise<void> {
  await db.batch([sql`UPDATE segments SET indexed = 0 WHERE segment_id ${inList(segmentIds)}`]);
}
