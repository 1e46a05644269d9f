import { FIELDS, SEGMENT_ID } from "./samples.ts";

const { accountId, indexId, assetId, jobId, sourceId, uploadId, watchId } = FIELDS as Record<
  string,
  string
>;

/** Rows of D1 that the samples refer to. */
export const D1_ROWS = `
  INSERT INTO accounts (account_id, name, created_at) VALUES ('${accountId}', 'name', 0);
  INSERT INTO vector_pairs (vector_pair) VALUES (1);
  INSERT INTO indices (index_id, account_id, name, created_at, updated_at)
    VALUES ('${indexId}', '${accountId}', 'name', 0, 0);
  INSERT INTO shards (index_id, shard, vector_pair) VALUES ('${indexId}', 0, 1);
  INSERT INTO assets (asset_id, index_id, shard, account_id, asset_type, title, state, source,
      sha256, job_id, searchable, facts_revision, created_at, updated_at)
    VALUES ('${assetId}', '${indexId}', 0, '${accountId}', 'video', 't', 'ready', '{}', 'sha256',
      '${jobId}', 1, 1, 0, 0);
  INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
    VALUES ('${jobId}', '${accountId}', '${indexId}', '${assetId}', 'transcript', 'running', 0, 0);
  INSERT INTO sources (source_id, account_id, index_id, platform, request, item_limit, follow,
      job_id, created_at)
    VALUES ('${sourceId}', '${accountId}', '${indexId}', 'p', '{}', 1, 1, '${jobId}', 0);
  INSERT INTO watches (watch_id, account_id, index_id, name, request, min_probability, paused,
      created_at, updated_at)
    VALUES ('${watchId}', '${accountId}', '${indexId}', 'name', '{}', 0.9, 0, 0, 0);
  INSERT INTO uploads (upload_id, account_id, index_id, metadata, upload_metadata, token,
      created_at, updated_at, expires_at)
    VALUES ('${uploadId}', '${accountId}', '${indexId}', '{}', '', 'token', 0, 0, 9e12);`;

/** Rows of an index's database that the samples refer to. */
export const INDEX_ROWS = `
  INSERT INTO assets (asset_id, asset_type, searchable_at) VALUES ('${assetId}', 'video', 0);
  INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, caption)
    VALUES ('${SEGMENT_ID}', 1, 0, 0, 'words');
  INSERT INTO segment_fts (rowid, caption) VALUES (1, 'words');
  INSERT INTO signatures (segment_key, hashes, luma_thumbnail) VALUES (1, x'01000000', x'00');
  INSERT INTO new_vectors VALUES (1, 'caption', 0, x'0000803f');
  INSERT INTO matches (watch_id, segment_key, segment_id, score, details, matched_at)
    VALUES ('${watchId}', 1, '${SEGMENT_ID}', 0.9, '{"duplicates":[]}', 0);
  INSERT INTO unembedded_speech VALUES (1, '${jobId}');`;
