-- Queries that announce each new segment which matches. docs/watches.md.
CREATE TABLE watches (
  watch_id        TEXT PRIMARY KEY,
  account_id      TEXT NOT NULL,
  index_id        TEXT NOT NULL,
  name            TEXT NOT NULL,
  request         TEXT NOT NULL, -- JSON, WatchRequest
  min_probability REAL NOT NULL,
  webhook_url     TEXT,
  paused          INTEGER NOT NULL,
  image           TEXT,          -- JPEG of the example in base64, to embed it with another model
  vectors         TEXT,          -- JSON, WatchVectors: at most 30,000 characters
  nearest         TEXT,          -- JSON, NearestLists: at most 30,000 characters
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  -- With its vectors and nearest lists at their longest.
  record_bytes INTEGER GENERATED ALWAYS AS (60600 + length(CAST(name AS BLOB)) + length(CAST(request AS BLOB)) + COALESCE(length(CAST(webhook_url AS BLOB)), 0) + COALESCE(length(CAST(image AS BLOB)), 0)) VIRTUAL
) STRICT;
CREATE INDEX watches_by_index ON watches (index_id, watch_id);
CREATE TRIGGER watches_bytes_in AFTER INSERT ON watches BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER watches_bytes_change AFTER UPDATE ON watches WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER watches_bytes_out AFTER DELETE ON watches BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;
