import type { AssetId, SegmentId } from "../ids.ts";
import type { Box } from "../types.ts";
import { parseColumns } from "./rows.ts";
import { IS_LEFT } from "./speech.ts";
import { fromIndexed } from "./words.ts";

/** What a segment should have beside its row, and what of it the database knows to be there. */
export interface SegmentHealth {
  segmentId: SegmentId;
  keyframeMs: number;
  boxes: Box[];
  /** 1 where it has: the words of each kind, a keyframe that could be seen. */
  caption: number;
  speech: number;
  text: number;
  seen: number;
  /** 1 where it has: its row in the full-text index, with these words, and its keyframe's signature. */
  indexed: number;
  signed: number;
  /** 1 where its spoken words were changed, and whoever did it left the vectors behind. */
  unembedded: number;
  /** That made its vectors; null where there are none. */
  textModel: string | null;
  pictureModel: string | null;
}

const SAME_WORDS = ["caption", "transcript", "on_screen_text"]
  .map((column) => `${fromIndexed(`words.${column}`)} = ${fromIndexed(`segments.${column}`)}`)
  .join(" AND ");
const LABELS = `COALESCE((SELECT group_concat(value, ', ') FROM json_each(segments.labels)), '')`;

/** Of an asset, in order. */
export async function listSegmentHealth(
  db: D1Database,
  assetId: AssetId,
  now: number,
): Promise<SegmentHealth[]> {
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId, keyframe_ms AS keyframeMs, boxes, caption <> '' AS caption,
         transcript <> '' AS speech, on_screen_text <> '' AS text, problem IS NULL AS seen,
         EXISTS (
           SELECT 1 FROM segment_words AS words WHERE words.rowid = segments.rowid
             AND ${SAME_WORDS}
             AND ${fromIndexed("words.labels")} = ${fromIndexed(LABELS)}
         ) AS indexed,
         EXISTS (
           SELECT 1 FROM signatures
           WHERE signatures.segment_id = segments.segment_id AND still_ms IS NULL
         ) AS signed,
         EXISTS (
           SELECT 1 FROM unembedded_speech
           WHERE unembedded_speech.segment_id = segments.segment_id AND ${IS_LEFT}
         ) AS unembedded,
         text_model AS textModel, picture_model AS pictureModel
       FROM segments WHERE asset_id = ?2 ORDER BY position`,
    )
    .bind(now, assetId)
    .all<SegmentHealth>();
  return results.map((row) => parseColumns(row, ["boxes"]));
}
