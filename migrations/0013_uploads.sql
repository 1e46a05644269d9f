-- Resumable uploads (docs/uploads.md): how far each is, and how to go on.
CREATE TABLE uploads (
  upload_id    TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL,
  index_id     TEXT NOT NULL,
  title        TEXT,                      -- the file's name
  metadata     TEXT NOT NULL,             -- of the asset that it becomes
  described_as TEXT NOT NULL,             -- Upload-Metadata, as it came
  length       INTEGER,                   -- NULL: not told yet
  received     INTEGER NOT NULL DEFAULT 0,
  token        TEXT,                      -- of the request that may add to it: the last that asked
  tail         TEXT,                      -- the object that holds what is behind the last whole part
  hash         TEXT,                      -- SHA-256's state after the parts, hex
  sha256       TEXT,                      -- of the whole: nothing is to come
  part_number  INTEGER NOT NULL DEFAULT 0, -- the last that was given out; each is used once
  asset_id     TEXT,                      -- with the next three, once the first part was stored
  asset_type   TEXT CHECK (asset_type IN ('video', 'image')),
  content_type TEXT,
  storage_id   TEXT,                      -- R2's multipart upload
  became       TEXT,                      -- the asset; another one's id, where the index had these bytes
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,          -- when the last byte came
  expires_at   INTEGER NOT NULL,
  removed_at   INTEGER                    -- its removal began
) STRICT;
CREATE INDEX uploads_by_index ON uploads (index_id, upload_id);
CREATE INDEX uploads_open ON uploads (account_id) WHERE became IS NULL;
CREATE INDEX uploads_received ON uploads (updated_at) WHERE sha256 IS NOT NULL AND became IS NULL;
CREATE INDEX uploads_by_expiry ON uploads (expires_at);
CREATE INDEX uploads_removed ON uploads (removed_at) WHERE removed_at IS NOT NULL;

-- The stored parts that count, in the order of their numbers.
CREATE TABLE upload_parts (
  upload_id TEXT NOT NULL REFERENCES uploads (upload_id) ON DELETE CASCADE,
  number    INTEGER NOT NULL,
  etag      TEXT NOT NULL,
  PRIMARY KEY (upload_id, number)
) STRICT, WITHOUT ROWID;
