import type { SegmentId } from "../../ids.ts";
import type { Asset } from "../../types.ts";
import type { ArchivedSegment } from "../r2/archive-record.ts";
import { inChunks, sql } from "../sql.ts";
import type { IndexDb } from "./index-database.ts";
import { ANY_VECTOR } from "./written-vectors.ts";

/** An archived segment with its id and the text of the cues at its time. */
export type RestoredSegment = ArchivedSegment & { segment_id: SegmentId; transcript: string };

/**
 * Inserts the segments of an asset, in order, and their full text. Segments that were described
 * stay as they are. Changes nothing if the asset's deletion has begun.
 */
export async function insertArchivedSegments(
  db: IndexDb,
  { assetId, assetType }: Pick<Asset, "assetId" | "assetType">,
  segments: RestoredSegment[],
  now: number,
): Promise<void> {
  const rows = segments.map((segment, position) => ({ ...segment, position }));
  for (const chunk of inChunks(rows)) {
    await db.batch([
      sql`INSERT OR IGNORE INTO assets (asset_id, asset_type) VALUES (${assetId}, ${assetType})`,
      sql`INSERT INTO segments (segment_id, asset_key, position, start_ms, end_ms, keyframe_ms,
          caption, caption_model, transcript, on_screen_text, labels, boxes, error, text_model,
          image_model, described_at, indexed, vectors)
        SELECT value ->> 'segment_id', asset_key, value ->> 'position', value ->> 'start_ms',
          value ->> 'end_ms', value ->> 'keyframe_ms', value ->> 'caption',
          value ->> 'caption_model', value ->> 'transcript', value ->> 'on_screen_text',
          value -> 'labels', value -> 'boxes', NULLIF(value -> 'error', 'null'),
          value ->> 'text_model', value ->> 'image_model', ${now}, 0,
          IIF(COALESCE(value ->> 'text_model', value ->> 'image_model') IS NULL, 0, ${ANY_VECTOR})
        FROM assets, json_each(${chunk}) WHERE asset_id = ${assetId} AND deleted_at IS NULL
        ON CONFLICT (segment_id) DO UPDATE SET caption = excluded.caption,
          caption_model = excluded.caption_model, transcript = excluded.transcript,
          on_screen_text = excluded.on_screen_text, labels = excluded.labels,
          boxes = excluded.boxes, error = excluded.error, text_model = excluded.text_model,
          image_model = excluded.image_model, described_at = excluded.described_at, indexed = 0
        WHERE described_at IS NULL`,
    ]);
  }
}
