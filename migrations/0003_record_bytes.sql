-- The share of D1 that each account fills. record_bytes of a row is what it takes at most, with its
-- entries in indexes and the small rows that come with it. Triggers sum it in accounts.record_bytes.
-- Imports follow in 0004. docs/storage.md lists all tables.

ALTER TABLE accounts ADD COLUMN record_bytes INTEGER NOT NULL DEFAULT 0;

-- When the cron trigger last started a scheduled traversal of the account.
ALTER TABLE accounts ADD COLUMN traversal_started_at INTEGER;

-- With its first shard and its tallies.
ALTER TABLE indices ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (2000 + length(CAST(description AS BLOB)) + length(CAST(metadata AS BLOB)) + length(CAST(settings AS BLOB))) VIRTUAL;

-- With its transcript.
ALTER TABLE assets ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (1200 + length(CAST(title AS BLOB)) + COALESCE(length(CAST(error AS BLOB)), 0) + length(CAST(warnings AS BLOB)) + length(CAST(source AS BLOB)) + length(CAST(technical AS BLOB)) + length(CAST(metadata AS BLOB))) VIRTUAL;

-- With its parts: their number is limited by that of open uploads.
ALTER TABLE uploads ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (1500 + COALESCE(length(CAST(title AS BLOB)), 0) + length(CAST(metadata AS BLOB)) + length(CAST(upload_metadata AS BLOB))) VIRTUAL;

ALTER TABLE jobs ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (500 + COALESCE(length(CAST(result AS BLOB)), 0) + COALESCE(length(CAST(error AS BLOB)), 0) + COALESCE(length(CAST(message AS BLOB)), 0)) VIRTUAL;

ALTER TABLE idempotency_keys ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (300 + 2 * length(CAST(idempotency_key AS BLOB)) + COALESCE(length(CAST(body AS BLOB)), 0)) VIRTUAL;

ALTER TABLE api_keys ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (400 + COALESCE(length(CAST(name AS BLOB)), 0)) VIRTUAL;

-- When a job ended, or was last found to be referred to. NULL before its end. The oldest are deleted.
ALTER TABLE jobs ADD COLUMN retained_at INTEGER;
UPDATE jobs SET retained_at = updated_at WHERE state IN ('succeeded', 'failed', 'cancelled');
CREATE INDEX jobs_by_retention ON jobs (retained_at) WHERE retained_at IS NOT NULL;
CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE expires_at IS NOT NULL;

CREATE TRIGGER jobs_retain AFTER UPDATE OF state ON jobs WHEN (new.state IN ('queued', 'running')) <> (old.state IN ('queued', 'running')) BEGIN UPDATE jobs SET retained_at = (CASE WHEN new.state NOT IN ('queued', 'running') THEN new.updated_at END) WHERE job_id = new.job_id; END;

UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT account_id, SUM(record_bytes) AS bytes FROM indices GROUP BY account_id) AS sums WHERE sums.account_id = accounts.account_id;
UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT account_id, SUM(record_bytes) AS bytes FROM assets GROUP BY account_id) AS sums WHERE sums.account_id = accounts.account_id;
UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT account_id, SUM(record_bytes) AS bytes FROM uploads GROUP BY account_id) AS sums WHERE sums.account_id = accounts.account_id;
UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT account_id, SUM(record_bytes) AS bytes FROM jobs GROUP BY account_id) AS sums WHERE sums.account_id = accounts.account_id;
UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT account_id, SUM(record_bytes) AS bytes FROM idempotency_keys GROUP BY account_id) AS sums WHERE sums.account_id = accounts.account_id;
UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT account_id, SUM(record_bytes) AS bytes FROM api_keys GROUP BY account_id) AS sums WHERE sums.account_id = accounts.account_id;

CREATE TRIGGER indices_bytes_in AFTER INSERT ON indices BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER indices_bytes_change AFTER UPDATE ON indices WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER indices_bytes_out AFTER DELETE ON indices BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;

CREATE TRIGGER assets_bytes_in AFTER INSERT ON assets BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER assets_bytes_change AFTER UPDATE ON assets WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER assets_bytes_out AFTER DELETE ON assets BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;

CREATE TRIGGER uploads_bytes_in AFTER INSERT ON uploads BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER uploads_bytes_change AFTER UPDATE ON uploads WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER uploads_bytes_out AFTER DELETE ON uploads BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;

CREATE TRIGGER jobs_bytes_in AFTER INSERT ON jobs BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER jobs_bytes_change AFTER UPDATE ON jobs WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER jobs_bytes_out AFTER DELETE ON jobs BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;

CREATE TRIGGER idempotency_keys_bytes_in AFTER INSERT ON idempotency_keys BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER idempotency_keys_bytes_change AFTER UPDATE ON idempotency_keys WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER idempotency_keys_bytes_out AFTER DELETE ON idempotency_keys BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;

CREATE TRIGGER api_keys_bytes_in AFTER INSERT ON api_keys BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER api_keys_bytes_out AFTER DELETE ON api_keys BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;
