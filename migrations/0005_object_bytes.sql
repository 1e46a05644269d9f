-- Bytes of objects in R2 that no row of assets or uploads counts, by what they belong to: an asset
-- (keyframes, transcripts and so on, and its source file until it is recorded), a query clip, or a
-- job whose lines are being imported. Their sum counts towards stored_bytes of the account.
CREATE TABLE object_bytes (
  owner      TEXT PRIMARY KEY,               -- id of the asset, the clip or the job
  account_id TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  charged_at INTEGER NOT NULL,               -- last, epoch ms
  expires_at INTEGER                         -- NULL while there is an asset with that id
) STRICT, WITHOUT ROWID;
CREATE INDEX object_bytes_by_expiry ON object_bytes (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE accounts ADD COLUMN object_bytes INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER object_bytes_in AFTER INSERT ON object_bytes BEGIN UPDATE accounts SET object_bytes = object_bytes + new.bytes WHERE account_id = new.account_id; END;

CREATE TRIGGER object_bytes_change AFTER UPDATE OF bytes ON object_bytes WHEN new.bytes <> old.bytes BEGIN UPDATE accounts SET object_bytes = object_bytes + new.bytes - old.bytes WHERE account_id = new.account_id; END;

CREATE TRIGGER object_bytes_out AFTER DELETE ON object_bytes BEGIN UPDATE accounts SET object_bytes = object_bytes - old.bytes WHERE account_id = old.account_id; END;

-- Bytes of the parts and the tail of an upload, with parts that a request has discarded: R2 stores
-- them until the upload ends.
ALTER TABLE uploads ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE uploads SET stored_bytes = received;
