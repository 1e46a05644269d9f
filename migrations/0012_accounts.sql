-- Keys as their owner names them; NULL: made by the command line, on record since its first use.
ALTER TABLE api_keys ADD COLUMN name TEXT;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER; -- to the minute
CREATE INDEX api_keys_by_account ON api_keys (account_id, key_id);

-- What this account may, where that isn't what every account may: {name: number}. src/config.ts, ACCOUNT_LIMITS.
ALTER TABLE accounts ADD COLUMN limits TEXT NOT NULL DEFAULT '{}' CHECK (json_type(limits) = 'object');

-- A queued search is metered when it is asked for: once, however often its message comes.
CREATE TRIGGER jobs_meter AFTER INSERT ON jobs WHEN new.kind = 'search' BEGIN
  INSERT INTO usage (account_id, date, searches) VALUES (new.account_id, date('now'), 1)
  ON CONFLICT DO UPDATE SET searches = searches + 1;
END;

-- What was done under an Idempotency-Key: the first answer, or, while status is NULL, who works on it until when.
CREATE TABLE idempotency_keys (
  account_id      TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  fingerprint     TEXT NOT NULL,            -- of the request
  holder          TEXT NOT NULL,            -- the request that does it
  held_until      INTEGER NOT NULL,
  status          INTEGER,
  body            TEXT,                     -- NULL: it held a secret
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (account_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
