-- The share of D1 of imports, and shards that have vectors.

ALTER TABLE sources ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (600 + 2 * length(CAST(request AS BLOB)) + COALESCE(length(CAST(listing AS BLOB)), 0) + length(CAST(metadata AS BLOB)) + COALESCE(length(CAST(validators AS BLOB)), 0) + COALESCE(length(CAST(sync_cursor AS BLOB)), 0)) VIRTUAL;

ALTER TABLE imports ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (400 + length(CAST(platform_id AS BLOB)) + length(CAST(item AS BLOB))) VIRTUAL;

ALTER TABLE job_items ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (300 + length(CAST(platform_id AS BLOB)) + length(CAST(title AS BLOB)) + length(CAST(url AS BLOB)) + COALESCE(length(CAST(error AS BLOB)), 0)) VIRTUAL;

CREATE INDEX sources_by_job ON sources (job_id);

UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT account_id, SUM(record_bytes) AS bytes FROM sources GROUP BY account_id) AS sums WHERE sums.account_id = accounts.account_id;
UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT indices.account_id, SUM(imports.record_bytes) AS bytes FROM imports JOIN indices USING (index_id) GROUP BY indices.account_id) AS sums WHERE sums.account_id = accounts.account_id;
UPDATE accounts SET record_bytes = record_bytes + sums.bytes FROM (SELECT jobs.account_id, SUM(job_items.record_bytes) AS bytes FROM job_items JOIN jobs USING (job_id) GROUP BY jobs.account_id) AS sums WHERE sums.account_id = accounts.account_id;

CREATE TRIGGER sources_bytes_in AFTER INSERT ON sources BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER sources_bytes_change AFTER UPDATE ON sources WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER sources_bytes_out AFTER DELETE ON sources BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;

CREATE TRIGGER imports_bytes_in AFTER INSERT ON imports BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = (SELECT account_id FROM indices WHERE index_id = new.index_id); END;
CREATE TRIGGER imports_bytes_change AFTER UPDATE ON imports WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = (SELECT account_id FROM indices WHERE index_id = new.index_id); END;
CREATE TRIGGER imports_bytes_out AFTER DELETE ON imports BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = (SELECT account_id FROM indices WHERE index_id = old.index_id); END;

CREATE TRIGGER job_items_bytes_in AFTER INSERT ON job_items BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = (SELECT account_id FROM jobs WHERE job_id = new.job_id); END;
CREATE TRIGGER job_items_bytes_out AFTER DELETE ON job_items BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = (SELECT account_id FROM jobs WHERE job_id = old.job_id); END;

-- A shard counts in its pair once it has vectors, or soon will. An empty index counts nowhere.
ALTER TABLE shards ADD COLUMN has_vectors INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER shards_inserted;
DROP TRIGGER shards_deleted;
UPDATE shards SET has_vectors = 1 WHERE EXISTS (SELECT 1 FROM assets WHERE assets.index_id = shards.index_id AND assets.shard = shards.shard AND (state IN ('embedding', 'ready') OR segments > 0));
UPDATE vector_pairs SET shard_count = (SELECT COUNT(*) FROM shards WHERE shards.vector_pair = vector_pairs.vector_pair AND has_vectors);

CREATE TRIGGER assets_vectors_in AFTER INSERT ON assets WHEN new.state IN ('embedding', 'ready') BEGIN UPDATE shards SET has_vectors = 1 WHERE index_id = new.index_id AND shard = new.shard AND NOT has_vectors; END;
CREATE TRIGGER assets_vectors_change AFTER UPDATE OF state ON assets WHEN new.state IN ('embedding', 'ready') AND new.state <> old.state BEGIN UPDATE shards SET has_vectors = 1 WHERE index_id = new.index_id AND shard = new.shard AND NOT has_vectors; END;
CREATE TRIGGER shards_count AFTER UPDATE OF has_vectors ON shards WHEN new.has_vectors <> old.has_vectors BEGIN UPDATE vector_pairs SET shard_count = shard_count + new.has_vectors - old.has_vectors WHERE vector_pair = new.vector_pair; END;
CREATE TRIGGER shards_deleted AFTER DELETE ON shards WHEN old.has_vectors BEGIN UPDATE vector_pairs SET shard_count = shard_count - 1 WHERE vector_pair = old.vector_pair; END;
