-- What was asked for on a platform; `follow`: it is looked at again on every re-traversal.
CREATE TABLE sources (
  source_id  TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  index_id   TEXT NOT NULL,
  platform   TEXT NOT NULL,
  wanted     TEXT NOT NULL,             -- {kind, url? playlistId? query? username?}
  listing    TEXT,                      -- what that leads to, once the platform was asked
  item_limit INTEGER NOT NULL,          -- of the listing, the first so many
  metadata   TEXT NOT NULL DEFAULT '{}',
  follow     INTEGER NOT NULL,
  validators TEXT,                      -- of the last whole look, for a conditional request
  walk       TEXT,                      -- {jobId, at, position}: where the present look is
  job_id     TEXT NOT NULL,             -- of the last look
  looked_at  INTEGER,                   -- when that came to its end
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sources_by_wish ON sources (index_id, platform, wanted);

-- What has come from platforms: an index has each thing once.
CREATE TABLE imports (
  index_id    TEXT NOT NULL,
  platform    TEXT NOT NULL,
  platform_id TEXT NOT NULL,
  source_id   TEXT NOT NULL,
  item        TEXT NOT NULL,            -- as the platform lists it
  asset_id    TEXT NOT NULL,            -- stays when the asset is deleted, so that it doesn't come back by itself
  removed_at  INTEGER,                  -- when the original was found to be gone
  PRIMARY KEY (index_id, platform, platform_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX imports_by_source ON imports (source_id);
CREATE INDEX imports_by_asset ON imports (asset_id);

-- What one look at a source found.
CREATE TABLE job_items (
  job_id      TEXT NOT NULL,
  platform_id TEXT NOT NULL,
  position    INTEGER NOT NULL,
  title       TEXT NOT NULL,
  url         TEXT NOT NULL,
  asset_type  TEXT NOT NULL,
  outcome     TEXT NOT NULL CHECK (outcome IN ('added', 'present', 'refused', 'deleted', 'removed')),
  asset_id    TEXT,
  error       TEXT,                     -- {code, message}
  PRIMARY KEY (job_id, platform_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_items_added ON job_items (asset_id) WHERE outcome = 'added';
