/**
 * Schema of an index's database, forward only and additive (scripts/check-sql.ts). Tables:
 * docs/architecture.md. Times are epoch ms, `*_ms` milliseconds of media, JSON is text. Rows refer
 * to each other by integer, which takes a tenth of an id's space.
 */
export const INDEX_DATABASE_MIGRATIONS = [
  `-- What a search needs of assets, copied from D1. Defaults: not searchable yet.
   CREATE TABLE assets (
     asset_key     INTEGER PRIMARY KEY,
     asset_id      TEXT NOT NULL UNIQUE,
     asset_type    TEXT NOT NULL,
     title         TEXT NOT NULL DEFAULT '',
     metadata      TEXT NOT NULL DEFAULT '{}',
     duration_ms   INTEGER NOT NULL DEFAULT 0,
     created_at    INTEGER NOT NULL DEFAULT 0,
     searchable_at INTEGER,                    -- NULL while no search may find it
     deleted_at    INTEGER,                    -- when its deletion began; the row stays
     facts_revision      INTEGER NOT NULL DEFAULT 0, -- counted in D1
     transcript_revision INTEGER NOT NULL DEFAULT 0 -- of the segments' transcripts
   ) STRICT;
   CREATE INDEX assets_by_searchable ON assets (searchable_at);

   CREATE TABLE segments (
     segment_key    INTEGER PRIMARY KEY,
     segment_id     TEXT NOT NULL UNIQUE,
     asset_key      INTEGER NOT NULL REFERENCES assets (asset_key),
     position       INTEGER NOT NULL,
     start_ms       INTEGER,                   -- NULL for an image
     end_ms         INTEGER,
     keyframe_ms    INTEGER NOT NULL,
     caption        TEXT NOT NULL DEFAULT '',
     caption_model  TEXT,
     transcript     TEXT NOT NULL DEFAULT '',
     on_screen_text TEXT NOT NULL DEFAULT '',
     labels         TEXT NOT NULL DEFAULT '[]',
     boxes          TEXT NOT NULL DEFAULT '[]', -- [{label, score, x, y, width, height}]
     described_at   INTEGER,                   -- NULL until the keyframe was described, or failed
     error          TEXT,                      -- {code, message}: why the keyframe couldn't be
     indexed        INTEGER NOT NULL DEFAULT 1, -- 0: the full text doesn't have the present text
     text_model     TEXT,                      -- of its text vectors; NULL: there are none
     image_model    TEXT,
     UNIQUE (asset_key, position)
   ) STRICT;

   CREATE INDEX segments_unindexed ON segments (segment_key) WHERE indexed = 0;

   -- With a copy of the text: FTS5 without one counts deleted rows in bm25().
   CREATE VIRTUAL TABLE segment_fts USING fts5 (
     caption, transcript, on_screen_text, labels,
     tokenize = "porter unicode61 remove_diacritics 2"
   );
   CREATE VIRTUAL TABLE segment_fts_vocab USING fts5vocab(segment_fts, 'row');
   CREATE TRIGGER segments_outdate_full_text
   AFTER UPDATE OF caption, transcript, on_screen_text, labels ON segments
   WHEN old.caption <> new.caption OR old.transcript <> new.transcript
     OR old.on_screen_text <> new.on_screen_text OR old.labels <> new.labels BEGIN
     UPDATE segments SET indexed = 0 WHERE segment_key = new.segment_key;
   END;
   CREATE TRIGGER segments_delete_full_text AFTER DELETE ON segments BEGIN
     DELETE FROM segment_fts WHERE rowid = old.segment_key;
   END;

   CREATE TABLE segment_counts (
     asset_type TEXT PRIMARY KEY,
     segments   INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TRIGGER segments_count_in AFTER INSERT ON segments BEGIN
     INSERT INTO segment_counts SELECT asset_type, 1 FROM assets WHERE asset_key = new.asset_key
     ON CONFLICT DO UPDATE SET segments = segments + 1;
   END;
   CREATE TRIGGER segments_count_out AFTER DELETE ON segments BEGIN
     UPDATE segment_counts SET segments = segments - 1
     WHERE asset_type = (SELECT asset_type FROM assets WHERE asset_key = old.asset_key);
   END;

   -- Segments whose vectors don't have their present transcript yet, and the job that updates them.
   CREATE TABLE unembedded_speech (
     segment_key INTEGER NOT NULL,
     job_id      TEXT NOT NULL,
     PRIMARY KEY (segment_key, job_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX unembedded_speech_by_job ON unembedded_speech (job_id);
   CREATE TRIGGER segments_delete_unembedded AFTER DELETE ON segments BEGIN
     DELETE FROM unembedded_speech WHERE segment_key = old.segment_key;
   END;

   CREATE TABLE signatures (
     signature_key  INTEGER PRIMARY KEY,
     segment_key    INTEGER NOT NULL,
     frame_ms       INTEGER,                   -- NULL: of the keyframe
     hashes         BLOB NOT NULL,             -- 32-bit integers
     luma_thumbnail BLOB NOT NULL
   ) STRICT;
   CREATE INDEX signatures_by_segment ON signatures (segment_key);
   CREATE TABLE signature_hashes (
     hash          INTEGER NOT NULL,
     signature_key INTEGER NOT NULL,
     PRIMARY KEY (hash, signature_key)
   ) STRICT, WITHOUT ROWID;
   -- Signatures whose hashes are still to be written or deleted: empty between transactions.
   CREATE TABLE signature_changes (
     signature_key INTEGER NOT NULL,
     hashes        BLOB NOT NULL,
     deleted       INTEGER NOT NULL
   ) STRICT;
   CREATE TRIGGER signatures_insert_hashes AFTER INSERT ON signatures BEGIN
     INSERT INTO signature_changes VALUES (new.signature_key, new.hashes, 0);
   END;
   CREATE TRIGGER signatures_delete_hashes AFTER DELETE ON signatures BEGIN
     INSERT INTO signature_changes VALUES (old.signature_key, old.hashes, 1);
   END;
   CREATE TRIGGER segments_delete_signatures AFTER DELETE ON segments BEGIN
     DELETE FROM signatures WHERE segment_key = old.segment_key;
   END;`,
  `-- Which vectors may exist, a bit each (store/index-database/segments.ts), and when one was last written.
   ALTER TABLE segments ADD COLUMN vectors INTEGER NOT NULL DEFAULT 127;
   ALTER TABLE segments ADD COLUMN vectors_at INTEGER NOT NULL DEFAULT 0;`,
  `-- Facts of an asset's file, copied from D1 as the others are.
   ALTER TABLE assets ADD COLUMN technical TEXT NOT NULL DEFAULT '{}';`,
  `-- Vectors of segments that aren't searchable yet, as 32-bit numbers, for watches.
   CREATE TABLE new_vectors (
     segment_key INTEGER NOT NULL,
     kind        TEXT NOT NULL,
     region      INTEGER NOT NULL, -- 0 for other kinds
     "values"    BLOB NOT NULL,
     PRIMARY KEY (segment_key, kind, region)
   ) STRICT, WITHOUT ROWID;
   -- Matches of segments that aren't searchable yet.
   CREATE TABLE new_matches (
     segment_key INTEGER NOT NULL,
     watch_id    TEXT NOT NULL,
     score       REAL NOT NULL,
     details     TEXT NOT NULL, -- MatchDetails
     PRIMARY KEY (segment_key, watch_id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE matches (
     match_key   INTEGER PRIMARY KEY AUTOINCREMENT, -- AUTOINCREMENT never reuses a number
     watch_id    TEXT NOT NULL,
     segment_key INTEGER NOT NULL,
     segment_id  TEXT NOT NULL,
     score       REAL NOT NULL,
     details     TEXT NOT NULL,
     matched_at  INTEGER NOT NULL,
     UNIQUE (watch_id, segment_key)
   ) STRICT;
   CREATE INDEX matches_by_watch ON matches (watch_id, segment_id);
   CREATE INDEX matches_by_segment ON matches (segment_key);

   -- A match counts in the transaction that makes its asset searchable, and only once.
   CREATE TRIGGER assets_match AFTER UPDATE OF searchable_at ON assets
   WHEN new.searchable_at IS NOT NULL BEGIN
     INSERT OR IGNORE INTO matches (watch_id, segment_key, segment_id, score, details, matched_at)
       SELECT watch_id, segment_key, segment_id, score, details, unixepoch('subsec') * 1000
       FROM segments JOIN new_matches USING (segment_key) WHERE asset_key = new.asset_key;
     DELETE FROM new_matches WHERE segment_key IN (
       SELECT segment_key FROM segments WHERE asset_key = new.asset_key);
     DELETE FROM new_vectors WHERE segment_key IN (
       SELECT segment_key FROM segments WHERE asset_key = new.asset_key);
   END;
   CREATE TRIGGER segments_delete_matches AFTER DELETE ON segments BEGIN
     DELETE FROM new_vectors WHERE segment_key = old.segment_key;
     DELETE FROM new_matches WHERE segment_key = old.segment_key;
     DELETE FROM matches WHERE segment_key = old.segment_key;
   END;`,
  `-- Whether people found a segment relevant to a query, with how it was scored then.
   CREATE TABLE judgments (
     judgment_id     TEXT PRIMARY KEY,         -- sorts by creation
     segment_key     INTEGER NOT NULL,
     query           TEXT NOT NULL,            -- as it was sent; empty for an example alone
     query_key       TEXT NOT NULL,            -- fingerprint, equal for equal queries
     search_id       TEXT,                     -- of the queued search, if it had an example
     relevant        INTEGER NOT NULL,
     log_odds        REAL,                     -- NULL: the search didn't find the segment
     evidence_kind   TEXT,                     -- of its strongest evidence
     calibration_tag INTEGER NOT NULL,         -- of the parameters behind log_odds
     judged_at       INTEGER NOT NULL,
     UNIQUE (segment_key, query_key)
   ) STRICT;
   CREATE TRIGGER segments_delete_judgments AFTER DELETE ON segments BEGIN
     DELETE FROM judgments WHERE segment_key = old.segment_key;
   END;`,
  `-- Of its speech and on-screen text: by tag, or guessed once there is enough text.
   ALTER TABLE assets ADD COLUMN language TEXT;`,
  `-- Names of assets (src/asset-names.ts). named: version of the full text that has the present
   -- ones; 0: none.
   ALTER TABLE assets ADD COLUMN named INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX assets_by_named ON assets (named);
   CREATE VIRTUAL TABLE asset_fts USING fts5 (
     title, description, tokenize = "porter unicode61 remove_diacritics 2"
   );
   CREATE VIRTUAL TABLE asset_fts_vocab USING fts5vocab(asset_fts, 'row');
   CREATE TRIGGER assets_outdate_names AFTER UPDATE OF title, technical, language ON assets
   WHEN old.title <> new.title OR old.technical <> new.technical
     OR old.language IS NOT new.language BEGIN
     UPDATE assets SET named = 0 WHERE asset_key = new.asset_key;
   END;
   CREATE TRIGGER assets_delete_names AFTER DELETE ON assets BEGIN
     DELETE FROM asset_fts WHERE rowid = old.asset_key;
   END;`,
  `-- What the neighbours of a segment say of its first and last sentence.
   ALTER TABLE segments ADD COLUMN speech_before TEXT NOT NULL DEFAULT '';
   ALTER TABLE segments ADD COLUMN speech_after TEXT NOT NULL DEFAULT '';
   CREATE TRIGGER segments_outdate_neighbours AFTER UPDATE OF transcript ON segments
   WHEN old.transcript <> new.transcript BEGIN
     UPDATE segments SET indexed = 0 WHERE asset_key = new.asset_key
       AND position IN (new.position - 1, new.position + 1);
   END;`,
];
