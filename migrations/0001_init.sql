-- Accounts, keys, indices, assets, jobs, imports, uploads and usage. Segments are in the database of
-- their index: src/durable/index-database-schema.ts. Columns, and rules of these files:
-- docs/storage.md. Times: *_at epoch milliseconds, *_ms milliseconds of media. JSON is text.

CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  email      TEXT,
  limits     TEXT NOT NULL DEFAULT '{}' CHECK (json_type(limits) = 'object'),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  key_id       TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (account_id),
  name         TEXT,
  scopes       TEXT NOT NULL,
  kid          TEXT,                         -- of the signing secret at the last use
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_by_account ON api_keys (account_id, key_id);

CREATE TABLE idempotency_keys (
  account_id      TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  fingerprint     TEXT NOT NULL,             -- of the request
  lease_owner     TEXT NOT NULL,             -- the request that does the work
  leased_until    INTEGER NOT NULL,
  status          INTEGER,
  body            TEXT,                      -- NULL: the response held a secret
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (account_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE usage (
  account_id       TEXT NOT NULL,
  date             TEXT NOT NULL,            -- UTC, YYYY-MM-DD
  searches         INTEGER NOT NULL DEFAULT 0,
  answers          INTEGER NOT NULL DEFAULT 0,
  ingested_ms      INTEGER NOT NULL DEFAULT 0,
  ingested_images  INTEGER NOT NULL DEFAULT 0,
  model_calls      INTEGER NOT NULL DEFAULT 0,
  input_tokens     INTEGER NOT NULL DEFAULT 0,
  output_tokens    INTEGER NOT NULL DEFAULT 0,
  audio_seconds    REAL NOT NULL DEFAULT 0,
  neurons          REAL NOT NULL DEFAULT 0,  -- estimated
  frames           INTEGER NOT NULL DEFAULT 0, -- from here on: operations that are billed
  images           INTEGER NOT NULL DEFAULT 0,
  dimensions_queried INTEGER NOT NULL DEFAULT 0,
  vectors_written  INTEGER NOT NULL DEFAULT 0,
  rows_read        INTEGER NOT NULL DEFAULT 0,
  rows_written     INTEGER NOT NULL DEFAULT 0,
  object_requests  INTEGER NOT NULL DEFAULT 0,
  bucket_reads     INTEGER NOT NULL DEFAULT 0,
  bucket_writes    INTEGER NOT NULL DEFAULT 0,
  requests         INTEGER NOT NULL DEFAULT 0,
  queue_operations INTEGER NOT NULL DEFAULT 0,
  stored_bytes     INTEGER NOT NULL DEFAULT 0, -- of files, as of the last full hour
  stored_segments  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, date)
) STRICT;

CREATE TABLE indices (
  index_id          TEXT PRIMARY KEY,
  account_id        TEXT NOT NULL REFERENCES accounts (account_id),
  name              TEXT NOT NULL,
  description       TEXT NOT NULL DEFAULT '',
  metadata          TEXT NOT NULL DEFAULT '{}',
  settings          TEXT NOT NULL DEFAULT '{}',
  revision          INTEGER NOT NULL DEFAULT 0, -- an answer holds for one revision
  text_model        TEXT,                    -- of all text vectors, as of the last traversal
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  last_traversed_at INTEGER,
  traverse_due_at   INTEGER GENERATED ALWAYS AS (
    (CASE WHEN json_type(settings, '$.traverse_every_hours') IS 'null' THEN NULL
      ELSE COALESCE(last_traversed_at, created_at)
        + COALESCE(settings ->> '$.traverse_every_hours', 24) * 3600000 END)
  ) VIRTUAL,
  deleted_at        INTEGER
) STRICT;
CREATE UNIQUE INDEX indices_by_name ON indices (account_id, name) WHERE deleted_at IS NULL;
CREATE INDEX indices_deleted ON indices (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX indices_by_traverse_due ON indices (traverse_due_at) WHERE deleted_at IS NULL;
CREATE INDEX indices_by_text_model ON indices (text_model) WHERE deleted_at IS NULL;

-- Facts of the whole deployment that guarded writes read. One row.
CREATE TABLE deployment (
  deployment      INTEGER PRIMARY KEY CHECK (deployment = 1),
  accepts_ingests INTEGER NOT NULL DEFAULT 1 -- 0: this database is almost full
) STRICT;
INSERT INTO deployment (deployment) VALUES (1);

-- What was used of each resource with a limit, on each of the last days.
CREATE TABLE fill_history (
  resource    TEXT NOT NULL,
  vector_pair INTEGER NOT NULL,              -- 0: the resource belongs to no pair
  date        TEXT NOT NULL,                 -- UTC, YYYY-MM-DD
  used        INTEGER NOT NULL,
  PRIMARY KEY (resource, vector_pair, date)
) STRICT, WITHOUT ROWID;

-- Pairs of Vectorize indexes, shared by all accounts: TEXT_VECTORS_n and IMAGE_VECTORS_n.
CREATE TABLE vector_pairs (
  vector_pair  INTEGER PRIMARY KEY,          -- n, from 1
  vector_count INTEGER NOT NULL DEFAULT 0,   -- in the fuller one, as of the last sweep
  shard_count  INTEGER NOT NULL DEFAULT 0    -- at least as many as it has namespaces
) STRICT;

-- Each has a database with the segments of some assets of its index. New assets go to the last.
CREATE TABLE shards (
  index_id    TEXT NOT NULL REFERENCES indices (index_id),
  shard       INTEGER NOT NULL,              -- from 0
  vector_pair INTEGER NOT NULL REFERENCES vector_pairs (vector_pair), -- never changes
  database_bytes INTEGER NOT NULL DEFAULT 0, -- as of the end of its last ingest
  PRIMARY KEY (index_id, shard)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER shards_inserted AFTER INSERT ON shards BEGIN UPDATE vector_pairs SET shard_count = shard_count + 1 WHERE vector_pair = new.vector_pair; END;

CREATE TRIGGER shards_deleted AFTER DELETE ON shards BEGIN UPDATE vector_pairs SET shard_count = shard_count - 1 WHERE vector_pair = old.vector_pair; END;

CREATE TABLE assets (
  asset_id            TEXT PRIMARY KEY,
  index_id            TEXT NOT NULL REFERENCES indices (index_id),
  shard               INTEGER NOT NULL,      -- that has its segments, from 0, and never changes
  account_id          TEXT NOT NULL,
  asset_type          TEXT NOT NULL CHECK (asset_type IN ('video', 'image')),
  title               TEXT NOT NULL,
  state               TEXT NOT NULL,
  progress            REAL NOT NULL DEFAULT 0,
  revision            INTEGER NOT NULL DEFAULT 0, -- of the state in the object that state and progress show
  error               TEXT,                  -- {code, message}
  warnings            TEXT NOT NULL DEFAULT '[]', -- [{code, message}]
  source              TEXT NOT NULL,         -- {kind, url?, platform?, platform_id?}
  content_type        TEXT,
  size_bytes          INTEGER NOT NULL DEFAULT 0,
  sha256              TEXT,
  width               INTEGER,
  height              INTEGER,
  duration_ms         INTEGER NOT NULL DEFAULT 0,
  fps                 REAL,
  has_audio           INTEGER,
  language            TEXT,
  technical           TEXT NOT NULL DEFAULT '{}',
  metadata            TEXT NOT NULL DEFAULT '{}',
  keyframe_ms         INTEGER,               -- of the keyframe that stands for the asset
  segments            INTEGER NOT NULL DEFAULT 0,
  job_id              TEXT NOT NULL,
  transcript_job_id   TEXT,                  -- that stored the transcript, NULL if the ingest did
  transcript_revision INTEGER NOT NULL DEFAULT 0, -- number of the transcript, from 0
  searchable          INTEGER NOT NULL DEFAULT 0, -- 1: a search may find it
  ready_at            INTEGER,               -- when it first became searchable
  searchable_at       INTEGER GENERATED ALWAYS AS ( -- NULL while no search may find it
    (CASE WHEN searchable AND deleted_at IS NULL THEN ready_at END)
  ) VIRTUAL,
  facts_revision      INTEGER NOT NULL DEFAULT 0, -- of what the database of its index has to know
  mirrored_revision   INTEGER NOT NULL DEFAULT 0, -- that the database of its index has
  content_revision    INTEGER NOT NULL DEFAULT 0, -- of what its archive record has to have
  archived_revision   INTEGER NOT NULL DEFAULT 0, -- that its archive record has
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  restarted_at        INTEGER,               -- when a traversal restarted its failed ingest
  deleted_at          INTEGER                -- when its deletion began
) STRICT;
CREATE INDEX assets_by_index ON assets (index_id, substr(asset_id, 5));
CREATE UNIQUE INDEX assets_by_bytes ON assets (index_id, sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX assets_undispatched ON assets (created_at) WHERE state = 'queued' AND revision = 0;
CREATE INDEX assets_in_progress ON assets (index_id) WHERE state NOT IN ('ready', 'failed');
CREATE INDEX assets_unmirrored ON assets (updated_at) WHERE mirrored_revision < facts_revision;
CREATE INDEX assets_unarchived ON assets (updated_at)
  WHERE archived_revision < content_revision AND state = 'ready' AND deleted_at IS NULL;

-- What a search reads of an asset is also in the database of its index.
CREATE TRIGGER assets_facts AFTER UPDATE OF searchable, title, metadata, duration_ms, deleted_at ON assets WHEN (new.searchable OR old.searchable OR new.deleted_at IS NOT NULL) AND (new.searchable, new.title, new.metadata, new.duration_ms, new.deleted_at) IS NOT (old.searchable, old.title, old.metadata, old.duration_ms, old.deleted_at) BEGIN UPDATE assets SET facts_revision = facts_revision + 1 WHERE asset_id = new.asset_id; END;

-- The archive record of an asset follows its row. Repairs of other content count up, too.
CREATE TRIGGER assets_content AFTER UPDATE OF title, metadata, source, warnings, sha256, width, height, duration_ms, language, technical, keyframe_ms, segments, transcript_revision ON assets WHEN (new.title, new.metadata, new.source, new.warnings, new.sha256, new.width, new.height, new.duration_ms, new.language, new.technical, new.keyframe_ms, new.segments, new.transcript_revision) IS NOT (old.title, old.metadata, old.source, old.warnings, old.sha256, old.width, old.height, old.duration_ms, old.language, old.technical, old.keyframe_ms, old.segments, old.transcript_revision) BEGIN UPDATE assets SET content_revision = content_revision + 1 WHERE asset_id = new.asset_id; END;

-- What a search of the index finds changes once its database has the facts.
CREATE TRIGGER assets_revise AFTER UPDATE OF mirrored_revision, transcript_revision ON assets BEGIN UPDATE indices SET revision = revision + 1 WHERE index_id = new.index_id; END;

-- An ingest is metered once, when the asset first becomes searchable.
CREATE TRIGGER assets_meter AFTER UPDATE OF ready_at ON assets WHEN new.ready_at IS NOT NULL AND old.ready_at IS NULL BEGIN INSERT INTO usage (account_id, date, ingested_ms, ingested_images) VALUES (new.account_id, date('now'), new.duration_ms, new.asset_type = 'image') ON CONFLICT DO UPDATE SET ingested_ms = ingested_ms + excluded.ingested_ms, ingested_images = ingested_images + excluded.ingested_images; END;

CREATE TABLE transcripts (
  asset_id   TEXT PRIMARY KEY REFERENCES assets (asset_id),
  language   TEXT,
  source     TEXT NOT NULL CHECK (source IN ('upload', 'asr', 'platform')),
  cues       INTEGER NOT NULL,
  error      TEXT,                           -- {code, message}: why no audio could be transcribed
  created_at INTEGER NOT NULL
) STRICT;

-- Sums over assets, kept by triggers.
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

CREATE TRIGGER assets_count_in AFTER INSERT ON assets BEGIN INSERT INTO tallies VALUES (new.account_id, new.index_id, new.asset_type, new.state, 1, new.segments, new.duration_ms, new.size_bytes) ON CONFLICT DO UPDATE SET assets = assets + 1, segments = segments + excluded.segments, duration_ms = duration_ms + excluded.duration_ms, size_bytes = size_bytes + excluded.size_bytes; END;

CREATE TRIGGER assets_count_change AFTER UPDATE OF state, segments, duration_ms, size_bytes ON assets BEGIN UPDATE tallies SET assets = assets - 1, segments = segments - old.segments, duration_ms = duration_ms - old.duration_ms, size_bytes = size_bytes - old.size_bytes WHERE account_id = old.account_id AND index_id = old.index_id AND asset_type = old.asset_type AND state = old.state; INSERT INTO tallies VALUES (new.account_id, new.index_id, new.asset_type, new.state, 1, new.segments, new.duration_ms, new.size_bytes) ON CONFLICT DO UPDATE SET assets = assets + 1, segments = segments + excluded.segments, duration_ms = duration_ms + excluded.duration_ms, size_bytes = size_bytes + excluded.size_bytes; END;

CREATE TRIGGER assets_count_out AFTER DELETE ON assets BEGIN UPDATE tallies SET assets = assets - 1, segments = segments - old.segments, duration_ms = duration_ms - old.duration_ms, size_bytes = size_bytes - old.size_bytes WHERE account_id = old.account_id AND index_id = old.index_id AND asset_type = old.asset_type AND state = old.state; END;

CREATE TABLE jobs (
  job_id     TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  index_id   TEXT,
  asset_id   TEXT,
  kind       TEXT NOT NULL,
  state      TEXT NOT NULL
    CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  progress   REAL NOT NULL DEFAULT 0,
  result     TEXT,
  error      TEXT,                           -- {code, message}
  message    TEXT,                           -- of the queue, until the job ends, NULL for an ingest
  due_at     INTEGER,                        -- when it is dispatched again
  leased     INTEGER NOT NULL DEFAULT 0,     -- 1: by a worker, whose lease ends at due_at
  dispatches INTEGER NOT NULL DEFAULT 0,     -- since its last progress
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_by_account ON jobs (account_id, job_id);
CREATE INDEX jobs_by_asset ON jobs (asset_id);
CREATE INDEX jobs_by_due ON jobs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_by_traverse ON jobs (index_id, created_at) WHERE kind = 'traverse';
CREATE UNIQUE INDEX jobs_one_traverse ON jobs (index_id)
  WHERE kind = 'traverse' AND state IN ('queued', 'running');

CREATE TRIGGER jobs_end AFTER UPDATE OF state ON jobs WHEN new.state IN ('succeeded', 'failed', 'cancelled') AND new.due_at IS NOT NULL BEGIN UPDATE jobs SET message = NULL, due_at = NULL, leased = 0 WHERE job_id = new.job_id; END;

-- A queued search is metered when it is queued, however often its message is delivered.
CREATE TRIGGER jobs_meter AFTER INSERT ON jobs WHEN new.kind = 'search' BEGIN INSERT INTO usage (account_id, date, searches) VALUES (new.account_id, date('now'), 1) ON CONFLICT DO UPDATE SET searches = searches + 1; END;

-- An ingest job follows its asset.
CREATE TRIGGER assets_job AFTER UPDATE OF state, progress ON assets BEGIN UPDATE jobs SET state = (CASE new.state WHEN 'queued' THEN 'queued' WHEN 'ready' THEN 'succeeded' WHEN 'failed' THEN 'failed' ELSE 'running' END), progress = new.progress, result = (CASE new.state WHEN 'ready' THEN json_object('asset_id', new.asset_id, 'asset_type', new.asset_type) END), error = new.error, updated_at = new.updated_at WHERE job_id = new.job_id; END;

CREATE TRIGGER assets_job_cancel AFTER DELETE ON assets BEGIN UPDATE jobs SET state = 'cancelled' WHERE job_id = old.job_id AND state IN ('queued', 'running'); END;

CREATE TABLE sources (
  source_id   TEXT PRIMARY KEY,
  account_id  TEXT NOT NULL,
  index_id    TEXT NOT NULL,
  platform    TEXT NOT NULL,
  request     TEXT NOT NULL,                 -- {kind, url? playlistId? query? username?}
  listing     TEXT,                          -- what the request resolved to
  item_limit  INTEGER NOT NULL,              -- of the listing, the first so many
  metadata    TEXT NOT NULL DEFAULT '{}',
  follow      INTEGER NOT NULL,              -- 1: every traversal syncs it
  validators  TEXT,                          -- of the last complete sync, for conditional requests
  sync_cursor TEXT,                          -- {jobId, at, position}
  job_id      TEXT NOT NULL,                 -- of the last sync
  synced_at   INTEGER,                       -- when that ended
  created_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sources_by_request ON sources (index_id, platform, request);

CREATE TABLE imports (
  index_id    TEXT NOT NULL,
  platform    TEXT NOT NULL,
  platform_id TEXT NOT NULL,
  source_id   TEXT NOT NULL,
  item        TEXT NOT NULL,                 -- as the platform lists it
  asset_id    TEXT NOT NULL,                 -- kept after a deletion, so that no sync adds it again
  removed_at  INTEGER,                       -- when the original was found to be gone
  PRIMARY KEY (index_id, platform, platform_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX imports_by_source ON imports (source_id);
CREATE INDEX imports_by_asset ON imports (asset_id);

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
  error       TEXT,                          -- {code, message}
  PRIMARY KEY (job_id, platform_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_items_added ON job_items (asset_id) WHERE outcome = 'added';

CREATE TABLE uploads (
  upload_id       TEXT PRIMARY KEY,
  account_id      TEXT NOT NULL,
  index_id        TEXT NOT NULL,
  title           TEXT,                      -- name of the file
  metadata        TEXT NOT NULL,             -- of the asset
  upload_metadata TEXT NOT NULL,             -- the Upload-Metadata header
  length          INTEGER,                   -- NULL: not known yet
  received        INTEGER NOT NULL DEFAULT 0,
  token           TEXT,                      -- of the request that may append: the last one
  tail            TEXT,                      -- object with the bytes after the last whole part
  sha256_state    TEXT,                      -- hash state after the parts, hex
  sha256          TEXT,                      -- of the whole file, once all bytes are in
  part_number     INTEGER NOT NULL DEFAULT 0, -- the last one assigned (each is used once)
  asset_id        TEXT,                      -- with the next three, once the first part is stored
  asset_type      TEXT CHECK (asset_type IN ('video', 'image')),
  content_type    TEXT,
  storage_id      TEXT,                      -- multipart upload of R2
  result_asset_id TEXT,                      -- the asset, or the one that had the same bytes
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,          -- when the last byte came
  expires_at      INTEGER NOT NULL,
  removed_at      INTEGER                    -- when its removal began
) STRICT;
CREATE INDEX uploads_by_index ON uploads (index_id, upload_id);
CREATE INDEX uploads_open ON uploads (account_id) WHERE result_asset_id IS NULL;
CREATE INDEX uploads_received ON uploads (updated_at) WHERE sha256 IS NOT NULL AND result_asset_id IS NULL;
CREATE INDEX uploads_by_expiry ON uploads (expires_at);
CREATE INDEX uploads_removed ON uploads (removed_at) WHERE removed_at IS NOT NULL;

CREATE TABLE upload_parts (
  upload_id TEXT NOT NULL REFERENCES uploads (upload_id) ON DELETE CASCADE,
  number    INTEGER NOT NULL,
  etag      TEXT NOT NULL,
  PRIMARY KEY (upload_id, number)
) STRICT, WITHOUT ROWID;
