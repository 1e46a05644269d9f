import { type AssetId, trustedId } from "../../ids.ts";
import type { IndexRef } from "../../types.ts";
import type { StoredArchive } from "../r2/archive-record.ts";
import { batch, sql } from "../sql.ts";

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
      waveform, job_id, transcript_job_id, searchable, ready_at, facts_revision, content_revision,
      archived_revision, created_at, updated_at)
    VALUES (${record.asset_id}, ${indexId}, ${shard}, ${accountId}, ${record.asset_type},
      ${record.title}, 'ready', 1, 1, ${JSON.stringify(record.warnings)},
      ${JSON.stringify(record.source)}, ${record.content_type}, ${record.size_bytes},
      ${record.sha256}, ${record.width}, ${record.height}, ${record.duration_ms}, ${record.fps},
      ${record.has_audio === null ? null : Number(record.has_audio)}, ${record.language},
      ${JSON.stringify(record.technical)}, ${JSON.stringify(record.metadata)},
      ${record.keyframe_ms}, ${record.segments.length},
      ${record.waveform ? JSON.stringify(record.waveform) : null}, ${job_id}, ${transcript_job_id}, 1, ${now},
      1, 1, 1, ${record.created_at}, ${now})`;
  const { language = null, source = null, error = null, cues = [] } = record.transcript ?? {};
  const transcript = sql`INSERT OR IGNORE INTO transcripts
      (asset_id, language, source, cues, error, created_at)
    SELECT asset_id, ${language}, ${source}, ${cues.length}, ${error && JSON.stringify(error)},
      ${now} FROM assets WHERE asset_id = ${record.asset_id} AND ${source} IS NOT NULL`;
  await batch(db, [opened, asset, transcript]);
  return trustedId(record.asset_id);
}
