import { type AssetId, type SegmentId, trustedId } from "../ids.ts";
import type { Asset, Cue, IndexRef } from "../types.ts";
import type { ArchivedSegment, ArchiveRecord, StoredArchive } from "./archive-record.ts";
import type { IndexDb } from "./index-database.ts";
import { inChunks, prepare, sql } from "./sql.ts";

/** Returns the cues of an archived transcript; none without one. Unknown times are NaN. */
export function archivedCues({ transcript }: Pick<ArchiveRecord, "transcript">): Cue[] {
  const cues = transcript?.cues ?? [];
  return cues.map(({ start, end, text }) => ({ start: start ?? NaN, end: end ?? NaN, text }));
}

/**
 * Inserts the row of an asset from its record, that of its transcript, and the shard that has its
 * content. Changes nothing if there is such a row, or one with the same bytes in the index. Returns
 * the asset's id.
 */
export async function insertStoredAsset(
  db: D1Database,
  { accountId, indexId }: Pick<IndexRef, "accountId" | "indexId">,
  record: StoredArchive,
  now: number,
): Promise<AssetId> {
  const { shard, vector_pair, job_id, transcript_job_id } = record.location;
  const opened = sql`INSERT OR IGNORE INTO shards (index_id, shard, vector_pair)
    VALUES (${indexId}, ${shard}, ${vector_pair})`;
  const asset = sql`INSERT OR IGNORE INTO assets (asset_id, index_id, shard, account_id, asset_type,
      title, state, progress, revision, warnings, source, content_type, size_bytes, sha256, width,
      height, duration_ms, fps, has_audio, language, technical, metadata, keyframe_ms, segments,
      job_id, transcript_job_id, searchable, ready_at, facts_revision, content_revision,
      archived_revision, created_at, updated_at)
    VALUES (${record.asset_id}, ${indexId}, ${shard}, ${accountId}, ${record.asset_type},
      ${record.title}, 'ready', 1, 1, ${JSON.stringify(record.warnings)},
      ${JSON.stringify(record.source)}, ${record.content_type}, ${record.size_bytes},
      ${record.sha256}, ${record.width}, ${record.height}, ${record.duration_ms}, ${record.fps},
      ${record.has_audio === null ? null : Number(record.has_audio)}, ${record.language},
      ${JSON.stringify(record.technical)}, ${JSON.stringify(record.metadata)},
      ${record.keyframe_ms}, ${record.segments.length}, ${job_id}, ${transcript_job_id}, 1, ${now},
      1, 1, 1, ${record.created_at}, ${now})`;
  const { language = null, source = null, error = null, cues = [] } = record.transcript ?? {};
  const transcript = sql`INSERT OR IGNORE INTO transcripts
      (asset_id, language, source, cues, error, created_at)
    SELECT asset_id, ${language}, ${source}, ${cues.length}, ${error && JSON.stringify(error)},
      ${now} FROM assets WHERE asset_id = ${record.asset_id} AND ${source} IS NOT NULL`;
  await db.batch([opened, asset, transcript].map((statement) => prepare(db, statement)));
  return trustedId(record.asset_id);
}

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
          image_model, described_at, indexed)
        SELECT value ->> 'segment_id', asset_key, value ->> 'position', value ->> 'start_ms',
          value ->> 'end_ms', value ->> 'keyframe_ms', value ->> 'caption',
          value ->> 'caption_model', value ->> 'transcript', value ->> 'on_screen_text',
          value -> 'labels', value -> 'boxes', NULLIF(value -> 'error', 'null'),
          value ->> 'text_model', value ->> 'image_model', ${now}, 0
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
