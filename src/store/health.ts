import type { AssetId, SegmentId } from "../ids.ts";
import type { BoundingBox } from "../types.ts";
import { decodeFtsSql } from "./fulltext.ts";
import { HAS_KEYFRAME } from "./segments.ts";
import { parseColumns, prepare, raw, sql } from "./sql.ts";
import { isAbandoned } from "./transcript-replacement.ts";

/**
 * Content that a segment should have in other stores, as the database knows it. Flags are 0 or 1.
 */
export interface SegmentHealth {
  segmentId: SegmentId;
  keyframeMs: number;
  boxes: BoundingBox[];
  /** Whether the caption isn't empty. */
  caption: number;
  /** Whether the transcript isn't empty. */
  speech: number;
  /** Whether the on-screen text isn't empty. */
  text: number;
  /** Whether the keyframe was described without an error. */
  described: number;
  /** Whether the keyframe is stored, described or not. */
  hasKeyframe: number;
  /** Whether the full-text index has a row with the segment's text. */
  indexed: number;
  /** Whether the keyframe has a signature. */
  hasSignature: number;
  /** Whether an abandoned job changed the transcript without updating the vectors. */
  unembedded: number;
  /** Model of the text vectors; null if there are none. */
  textModel: string | null;
  /** Model of the image vectors; null if there are none. */
  imageModel: string | null;
}

const LABELS = `COALESCE((SELECT group_concat(value, ', ') FROM json_each(segments.labels)), '')`;
const equalsFtsText = (column: string, text: string) =>
  `${decodeFtsSql(`fts.${column}`)} = ${decodeFtsSql(text)}`;
const EQUALS_FTS_TEXT = [
  ...["caption", "transcript", "on_screen_text"].map((column) =>
    equalsFtsText(column, `segments.${column}`),
  ),
  equalsFtsText("labels", LABELS),
].join(" AND ");

/** Lists the health of an asset's segments, in order. */
export async function listSegmentHealth(
  db: D1Database,
  assetId: AssetId,
  now: number,
): Promise<SegmentHealth[]> {
  const { results } = await prepare(
    db,
    sql`SELECT segment_id AS segmentId, keyframe_ms AS keyframeMs, boxes, caption <> '' AS caption,
        transcript <> '' AS speech, on_screen_text <> '' AS text, error IS NULL AS described,
        ${raw(HAS_KEYFRAME)} AS hasKeyframe,
        EXISTS (
          SELECT 1 FROM segment_fts AS fts
          WHERE fts.rowid = segments.rowid AND ${raw(EQUALS_FTS_TEXT)}
        ) AS indexed,
        EXISTS (
          SELECT 1 FROM signatures
          WHERE signatures.segment_id = segments.segment_id AND frame_ms IS NULL
        ) AS hasSignature,
        EXISTS (
          SELECT 1 FROM unembedded_speech
          WHERE unembedded_speech.segment_id = segments.segment_id AND ${isAbandoned(now)}
        ) AS unembedded,
        text_model AS textModel, image_model AS imageModel
      FROM segments WHERE asset_id = ${assetId} ORDER BY position`,
  ).all<SegmentHealth>();
  return results.map((row) => parseColumns(row, ["boxes"]));
}

/** Whether a traversal has restarted the asset's ingest before. */
export async function wasRestarted(db: D1Database, assetId: AssetId): Promise<boolean> {
  const restartedAt = await db
    .prepare("SELECT restarted_at AS restartedAt FROM assets WHERE asset_id = ?")
    .bind(assetId)
    .first<number>("restartedAt");
  return restartedAt !== null;
}

export async function recordRestart(db: D1Database, assetId: AssetId, now: number): Promise<void> {
  await db
    .prepare("UPDATE assets SET restarted_at = ? WHERE asset_id = ?")
    .bind(now, assetId)
    .run();
}

/** Sets an asset's number of segments to the number of its rows. */
export async function recountSegments(db: D1Database, assetId: AssetId): Promise<void> {
  await db
    .prepare(
      `UPDATE assets SET segments =
         (SELECT COUNT(*) FROM segments WHERE segments.asset_id = assets.asset_id)
       WHERE asset_id = ?`,
    )
    .bind(assetId)
    .run();
}
