-- The standard terms in place of earlier names; docs/glossary.md lists them.

-- Full-text search.
DROP TRIGGER segments_forget_words;
DROP TABLE word_counts;
ALTER TABLE segment_words RENAME TO segment_fts;
CREATE VIRTUAL TABLE segment_fts_vocab USING fts5vocab(segment_fts, 'row');
CREATE TRIGGER segments_delete_fts AFTER DELETE ON segments BEGIN
  DELETE FROM segment_fts WHERE rowid = old.rowid;
END;

-- Copy detection: signatures, the hashes that look them up, and reference frames.
DROP TRIGGER signatures_add_keys;
DROP TRIGGER signatures_forget_keys;
DROP TRIGGER segments_forget_signature;
DROP TRIGGER segments_forget_stills;
ALTER TABLE signatures RENAME COLUMN still_ms TO frame_ms;
ALTER TABLE signatures RENAME COLUMN keys TO hashes;
ALTER TABLE signatures RENAME COLUMN thumbnail TO luma_thumbnail;
ALTER TABLE signature_keys RENAME TO signature_hashes;
ALTER TABLE signature_hashes RENAME COLUMN key TO hash;
ALTER TABLE stills RENAME TO reference_frames;
ALTER TABLE reference_frames RENAME COLUMN thumbnails TO luma_thumbnails;
CREATE TRIGGER signatures_insert_hashes AFTER INSERT ON signatures BEGIN
  INSERT OR IGNORE INTO signature_hashes (index_id, hash, signature_id)
  SELECT new.index_id, value, new.signature_id FROM json_each(new.hashes);
END;
CREATE TRIGGER signatures_delete_hashes AFTER DELETE ON signatures BEGIN
  DELETE FROM signature_hashes WHERE index_id = old.index_id AND signature_id = old.signature_id
    AND hash IN (SELECT value FROM json_each(old.hashes));
END;
CREATE TRIGGER segments_delete_signatures AFTER DELETE ON segments BEGIN
  DELETE FROM signatures WHERE segment_id = old.segment_id;
END;
CREATE TRIGGER segments_delete_reference_frames AFTER DELETE ON segments WHEN old.position = 0 BEGIN
  DELETE FROM reference_frames WHERE asset_id = old.asset_id;
END;

-- Segments, transcripts and assets.
DROP TRIGGER segments_forget_unembedded;
CREATE TRIGGER segments_delete_unembedded AFTER DELETE ON segments BEGIN
  DELETE FROM unembedded_speech WHERE segment_id = old.segment_id;
END;
ALTER TABLE segments RENAME COLUMN problem TO error;
ALTER TABLE segments RENAME COLUMN picture_model TO image_model;
ALTER TABLE transcripts RENAME COLUMN problem TO error;
ALTER TABLE assets RENAME COLUMN transcript_job TO transcript_job_id;
DROP INDEX assets_unheard;
CREATE INDEX assets_undispatched ON assets (created_at) WHERE state = 'queued' AND revision = 0;

-- Leases, deliveries and imports.
ALTER TABLE jobs RENAME COLUMN held TO leased;
ALTER TABLE jobs RENAME COLUMN asks TO dispatches;
ALTER TABLE idempotency_keys RENAME COLUMN holder TO lease_owner;
ALTER TABLE idempotency_keys RENAME COLUMN held_until TO leased_until;
ALTER TABLE api_keys RENAME COLUMN signed_with TO kid;
ALTER TABLE uploads RENAME COLUMN became TO result_asset_id;
ALTER TABLE uploads RENAME COLUMN described_as TO upload_metadata;
ALTER TABLE uploads RENAME COLUMN hash TO sha256_state;
DROP INDEX sources_by_wish;
ALTER TABLE sources RENAME COLUMN wanted TO request;
ALTER TABLE sources RENAME COLUMN walk TO sync_cursor;
ALTER TABLE sources RENAME COLUMN looked_at TO synced_at;
CREATE UNIQUE INDEX sources_by_request ON sources (index_id, platform, request);

-- One item of an import, and its outcome.
ALTER TABLE job_items RENAME TO old_job_items;
DROP INDEX job_items_added;
CREATE TABLE job_items (
  job_id      TEXT NOT NULL,
  platform_id TEXT NOT NULL,
  position    INTEGER NOT NULL,
  title       TEXT NOT NULL,
  url         TEXT NOT NULL,
  asset_type  TEXT NOT NULL,
  outcome     TEXT NOT NULL
    CHECK (outcome IN ('added', 'present', 'unavailable', 'deleted_locally', 'removed_upstream')),
  asset_id    TEXT,
  error       TEXT,                     -- {code, message}
  PRIMARY KEY (job_id, platform_id)
) STRICT, WITHOUT ROWID;
INSERT INTO job_items SELECT job_id, platform_id, position, title, url, asset_type,
  (CASE outcome WHEN 'refused' THEN 'unavailable' WHEN 'deleted' THEN 'deleted_locally'
    WHEN 'removed' THEN 'removed_upstream' ELSE outcome END), asset_id, error FROM old_job_items;
DROP TABLE old_job_items;
CREATE INDEX job_items_added ON job_items (asset_id) WHERE outcome = 'added';
