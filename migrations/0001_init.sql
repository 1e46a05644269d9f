-- Times: *_at epoch milliseconds; *_ms milliseconds of media. JSON is text.

CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  email      TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  key_id     TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  scopes     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE indices (
  index_id          TEXT PRIMARY KEY,
  account_id        TEXT NOT NULL REFERENCES accounts (account_id),
  name              TEXT NOT NULL,
  description       TEXT NOT NULL DEFAULT '',
  metadata          TEXT NOT NULL DEFAULT '{}',
  settings          TEXT NOT NULL DEFAULT '{}',
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  last_traversed_at INTEGER,
  deleted_at        INTEGER
) STRICT;
CREATE UNIQUE INDEX indices_by_name ON indices (account_id, name) WHERE deleted_at IS NULL;
CREATE INDEX indices_deleted ON indices (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE assets (
  asset_id      TEXT PRIMARY KEY,
  index_id      TEXT NOT NULL REFERENCES indices (index_id),
  account_id    TEXT NOT NULL,
  asset_type    TEXT NOT NULL CHECK (asset_type IN ('video', 'image')),
  title         TEXT NOT NULL,
  state         TEXT NOT NULL,
  progress      REAL NOT NULL DEFAULT 0,
  revision      INTEGER NOT NULL DEFAULT 0,  -- of the object's state that state and progress show
  error         TEXT,                        -- {code, message}
  warnings      TEXT NOT NULL DEFAULT '[]',  -- [{code, message}]
  source        TEXT NOT NULL,               -- {kind, url?, platform?, platform_id?}
  content_type  TEXT,
  size_bytes    INTEGER NOT NULL DEFAULT 0,
  sha256        TEXT,
  width         INTEGER,
  height        INTEGER,
  duration_ms   INTEGER NOT NULL DEFAULT 0,
  fps           REAL,
  has_audio     INTEGER,
  language      TEXT,
  technical     TEXT NOT NULL DEFAULT '{}',
  metadata      TEXT NOT NULL DEFAULT '{}',
  keyframe_ms   INTEGER,                     -- of the keyframe that stands for the asset
  segments      INTEGER NOT NULL DEFAULT 0,
  job_id        TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX assets_by_index ON assets (index_id, substr(asset_id, 5));
CREATE INDEX assets_unheard ON assets (created_at) WHERE state = 'queued' AND revision = 0;
CREATE UNIQUE INDEX assets_by_bytes ON assets (index_id, sha256) WHERE sha256 IS NOT NULL;

CREATE TABLE segments (
  segment_id     TEXT PRIMARY KEY,
  asset_id       TEXT NOT NULL REFERENCES assets (asset_id),
  index_id       TEXT NOT NULL,
  position       INTEGER NOT NULL,
  start_ms       INTEGER,                    -- NULL for an image
  end_ms         INTEGER,
  keyframe_ms    INTEGER NOT NULL,
  caption        TEXT NOT NULL DEFAULT '',
  transcript     TEXT NOT NULL DEFAULT '',
  on_screen_text TEXT NOT NULL DEFAULT '',
  labels         TEXT NOT NULL DEFAULT '[]',
  boxes          TEXT NOT NULL DEFAULT '[]', -- [{label, score, x, y, width, height}]
  described_at   INTEGER,                    -- NULL until the keyframe has been looked at
  problem        TEXT,                       -- {code, message}: why the keyframe could not be
  text_model     TEXT,                       -- that made the vectors; NULL where there are none
  picture_model  TEXT
) STRICT;
CREATE UNIQUE INDEX segments_by_asset ON segments (asset_id, position);

-- One row a segment, with the segment's rowid. `scope` is the index id: a search intersects its
-- posting list, so a word's rows in other indices are never read.
CREATE VIRTUAL TABLE segment_words USING fts5 (
  scope, caption, transcript, on_screen_text, labels,
  tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE TRIGGER segments_forget_words AFTER DELETE ON segments BEGIN
  DELETE FROM segment_words WHERE rowid = old.rowid;
END;

CREATE TABLE transcripts (
  asset_id   TEXT PRIMARY KEY REFERENCES assets (asset_id),
  language   TEXT,
  source     TEXT NOT NULL CHECK (source IN ('upload', 'asr', 'platform')),
  cues       INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE jobs (
  job_id     TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  index_id   TEXT,
  asset_id   TEXT,
  kind       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  progress   REAL NOT NULL DEFAULT 0,
  result     TEXT,
  error      TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_by_account ON jobs (account_id, job_id);
CREATE INDEX jobs_by_asset ON jobs (asset_id);

CREATE TABLE usage (
  account_id       TEXT NOT NULL,
  date             TEXT NOT NULL,            -- UTC, YYYY-MM-DD
  searches         INTEGER NOT NULL DEFAULT 0,
  answers          INTEGER NOT NULL DEFAULT 0,
  ingested_ms      INTEGER NOT NULL DEFAULT 0,
  ingested_images  INTEGER NOT NULL DEFAULT 0,
  model_calls      INTEGER NOT NULL DEFAULT 0,
  neurons_estimate REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, date)
) STRICT;

-- What the lists would add up to, kept by triggers so that it is exact and never counted at read.
CREATE TABLE tallies (
  account_id  TEXT NOT NULL,
  index_id    TEXT NOT NULL,
  asset_type  TEXT NOT NULL,
  state       TEXT NOT NULL,
  assets      INTEGER NOT NULL DEFAULT 0,
  segments    INTEGER NOT NULL DEFAULT 0,
  duration_ms INTEGER NOT NULL DEFAULT 0,
  size_bytes  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, index_id, asset_type, state)
) STRICT;

CREATE TRIGGER assets_count_in AFTER INSERT ON assets BEGIN
  INSERT INTO tallies VALUES (new.account_id, new.index_id, new.asset_type, new.state, 1, new.segments, new.duration_ms, new.size_bytes)
  ON CONFLICT DO UPDATE SET assets = assets + 1, segments = segments + excluded.segments,
    duration_ms = duration_ms + excluded.duration_ms, size_bytes = size_bytes + excluded.size_bytes;
END;

CREATE TRIGGER assets_count_change AFTER UPDATE OF state, segments, duration_ms, size_bytes ON assets BEGIN
  UPDATE tallies SET assets = assets - 1, segments = segments - old.segments,
    duration_ms = duration_ms - old.duration_ms, size_bytes = size_bytes - old.size_bytes
  WHERE account_id = old.account_id AND index_id = old.index_id AND asset_type = old.asset_type AND state = old.state;
  INSERT INTO tallies VALUES (new.account_id, new.index_id, new.asset_type, new.state, 1, new.segments, new.duration_ms, new.size_bytes)
  ON CONFLICT DO UPDATE SET assets = assets + 1, segments = segments + excluded.segments,
    duration_ms = duration_ms + excluded.duration_ms, size_bytes = size_bytes + excluded.size_bytes;
END;

CREATE TRIGGER assets_count_out AFTER DELETE ON assets BEGIN
  UPDATE tallies SET assets = assets - 1, segments = segments - old.segments,
    duration_ms = duration_ms - old.duration_ms, size_bytes = size_bytes - old.size_bytes
  WHERE account_id = old.account_id AND index_id = old.index_id AND asset_type = old.asset_type AND state = old.state;
END;

-- Ingest is metered when an asset becomes ready: once for each time, however often the step runs.
CREATE TRIGGER assets_meter AFTER UPDATE OF state ON assets WHEN new.state = 'ready' AND old.state <> 'ready' BEGIN
  INSERT INTO usage (account_id, date, ingested_ms, ingested_images)
  VALUES (new.account_id, date('now'), new.duration_ms, new.asset_type = 'image')
  ON CONFLICT DO UPDATE SET ingested_ms = ingested_ms + excluded.ingested_ms,
    ingested_images = ingested_images + excluded.ingested_images;
END;

-- An ingest job is its asset, seen from the job's side.
CREATE TRIGGER assets_job AFTER UPDATE OF state, progress ON assets BEGIN
  UPDATE jobs SET
    state = CASE new.state WHEN 'queued' THEN 'queued' WHEN 'ready' THEN 'succeeded' WHEN 'failed' THEN 'failed' ELSE 'running' END,
    progress = new.progress,
    result = CASE new.state WHEN 'ready' THEN json_object('asset_id', new.asset_id, 'asset_type', new.asset_type) END,
    error = new.error,
    updated_at = new.updated_at
  WHERE job_id = new.job_id;
END;

CREATE TRIGGER assets_job_cancel AFTER DELETE ON assets BEGIN
  UPDATE jobs SET state = 'cancelled' WHERE job_id = old.job_id AND state IN ('queued', 'running');
END;
