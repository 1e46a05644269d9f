-- Every SQL statement of the service, as its databases get it. `npm run sql` writes this file, and
-- `npm run check` fails if it is outdated. Review it for what a change of `src/` does to SQL.
--
-- `tools/statements/` calls each function of `src/store/` that takes a binding, and the methods of
-- the objects in `src/durable/`, with sample values, by the names of their parameters. Databases in
-- memory with the tables of `migrations/` and of the objects compile and run each statement, so
-- that one with an unknown column fails. The coverage of the run tells which `sql` templates
-- nothing has composed, and that fails, too. Optional parts of a statement, such as the columns of an
-- update, are those of the samples. A statement is listed once, at the first function that runs it.

-- store/archive.ts archiveAsset, in IndexDatabase
SELECT segment_key AS key, caption, transcript, on_screen_text AS text, labels
  FROM segments
  WHERE segment_key > ?
  ORDER BY segment_key
  LIMIT ?;

-- store/archive.ts archiveAsset, in D1
SELECT content_revision AS revision
  FROM assets
  WHERE asset_id = ?
  AND deleted_at IS NULL;
SELECT asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId, indices.name AS
    indexName, asset_type AS assetType, title, state, progress, error, warnings, source,
    content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height, duration_ms AS
    durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata, keyframe_ms AS
    keyframeMs, segments, shard, vector_pair AS vectorPair, job_id AS jobId, transcript_job_id AS
    transcriptJobId, transcript_revision AS transcriptRevision, assets.created_at AS createdAt,
    assets.updated_at AS updatedAt
  FROM assets
  JOIN indices USING (index_id)
  JOIN shards USING (index_id, shard)
  WHERE asset_id = ?;
SELECT language, source, cues, error
  FROM transcripts
  WHERE asset_id = ?;
SELECT waveform
  FROM assets
  WHERE asset_id = ?;

-- store/archive.ts archiveAsset, in IndexDatabase
SELECT position, start_ms, end_ms, keyframe_ms, substr(caption, 1, 20000) AS caption, caption_model,
    substr(on_screen_text, 1, 20000) AS on_screen_text, IIF(length(labels) > 250000, '[]', labels)
    AS labels, IIF(length(boxes) > 250000, '[]', boxes) AS boxes, error, text_model, image_model
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  AND position > ?
  AND described_at IS NOT NULL
  ORDER BY position;
SELECT segment_key AS key, caption, transcript, on_screen_text AS text, labels
  FROM segments
  WHERE indexed = 0;
SELECT signature_key AS key, hashes, deleted
  FROM signature_changes
  ORDER BY rowid;
INSERT OR IGNORE INTO signature_hashes
  SELECT value, ?
  FROM json_each(?);
DELETE
  FROM signature_changes;

-- store/archive.ts archiveAsset, in D1
UPDATE object_bytes
  SET bytes = MAX(0, bytes - ?)
  WHERE owner = ?;
UPDATE assets
  SET archived_revision = MAX(archived_revision, ?)
  WHERE asset_id = ?
  AND deleted_at IS NULL;

-- store/archive.ts isArchived, in D1
SELECT 1 AS lags
  FROM assets
  WHERE asset_id = ?
  AND archived_revision < content_revision
  AND updated_at < ?;

-- store/archive.ts listUnarchivedAssets, in D1
SELECT asset_id AS assetId
  FROM assets
  WHERE archived_revision < content_revision
  AND state = 'ready'
  AND deleted_at IS NULL
  AND updated_at < ?
  ORDER BY ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY random()), random()
  LIMIT ?;

-- store/archive.ts recordContentChange, in D1
UPDATE assets
  SET content_revision = content_revision + 1
  WHERE asset_id = ?;

-- store/asset-changes.ts updateAsset, in D1
UPDATE assets
  SET title = COALESCE(?, title), metadata = COALESCE(?, metadata), updated_at = ?
  WHERE asset_id = ?
  AND (? <= 0 + length(CAST(title AS BLOB)) + length(CAST(metadata AS BLOB)) OR EXISTS (SELECT 1
        FROM accounts WHERE account_id = ? AND COALESCE(accounts.record_bytes, 0) + ? <=
        COALESCE(limits ->> '$.record_bytes', ?)));
SELECT limits, (SELECT accepts_ingests FROM deployment) AS acceptsIngests,
    COALESCE(accounts.record_bytes, 0) AS record_bytes
  FROM accounts
  WHERE account_id = ?;
SELECT asset_id, asset_type, title, metadata, technical, duration_ms, created_at, searchable_at,
    deleted_at, facts_revision, shard
  FROM assets
  WHERE asset_id IN (SELECT value FROM json_each(?));

-- store/asset-changes.ts updateAsset, in IndexDatabase
INSERT INTO assets (asset_id, asset_type, title, metadata, technical, duration_ms, created_at,
      searchable_at, deleted_at, facts_revision)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value ->> 7, value ->> 8, value ->> 9
  FROM json_each(?)
  WHERE true
  ON CONFLICT (asset_id) DO UPDATE
  SET title = excluded.title, metadata = excluded.metadata, technical = excluded.technical,
    duration_ms = excluded.duration_ms, created_at = excluded.created_at, searchable_at =
    excluded.searchable_at, deleted_at = excluded.deleted_at, facts_revision =
    excluded.facts_revision
  WHERE excluded.facts_revision > assets.facts_revision;

-- store/asset-changes.ts updateAsset, in D1
UPDATE assets
  SET mirrored_revision = value ->> 1
  FROM json_each(?)
  WHERE asset_id = value ->> 0
  AND mirrored_revision < value ->> 1;

-- store/asset-changes.ts writeAssetState, in D1
UPDATE assets
  SET searchable = 1, ready_at = COALESCE(ready_at, ?)
  WHERE asset_id = ?
  AND revision < ?;
UPDATE assets
  SET state = ?, searchable = ?, progress = COALESCE(?, progress), error = ?, revision = ?,
    updated_at = ?
  WHERE asset_id = ?
  AND revision < ?;
SELECT mirrored_revision < facts_revision AS isOutdated
  FROM assets
  WHERE asset_id = ?;

-- store/d1/accounts.ts getAccount, in D1
SELECT account_id AS accountId, name, email, created_at AS createdAt
  FROM accounts
  WHERE account_id = ?;

-- store/d1/accounts.ts getRecordBytes, in D1
SELECT record_bytes
  FROM accounts
  WHERE account_id = ?;

-- store/d1/accounts.ts probeDatabase, in D1
SELECT 1
  FROM accounts
  LIMIT 1;

-- store/d1/accounts.ts updateAccount, in D1
UPDATE accounts
  SET name = COALESCE(?, name), email = COALESCE(?, email)
  WHERE account_id = ?
  RETURNING account_id AS accountId, name, email, created_at AS createdAt;

-- store/d1/assets.ts getAssetByBytes, in D1
SELECT asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId, indices.name AS
    indexName, asset_type AS assetType, title, state, progress, error, warnings, source,
    content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height, duration_ms AS
    durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata, keyframe_ms AS
    keyframeMs, segments, shard, vector_pair AS vectorPair, job_id AS jobId, transcript_job_id AS
    transcriptJobId, transcript_revision AS transcriptRevision, assets.created_at AS createdAt,
    assets.updated_at AS updatedAt
  FROM assets
  JOIN indices USING (index_id)
  JOIN shards USING (index_id, shard)
  WHERE index_id = ?
  AND sha256 = ?;

-- store/d1/assets.ts insertAsset, in D1
UPDATE object_bytes
  SET bytes = MAX(0, bytes - ?)
  WHERE owner = ?
  AND NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = owner);
INSERT OR IGNORE INTO assets (asset_id, index_id, shard, account_id, asset_type, title, state,
      warnings, source, content_type, size_bytes, sha256, metadata, job_id, created_at, updated_at)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE((SELECT SUM(assets) FROM
          tallies WHERE tallies.account_id = accounts.account_id AND state NOT IN ('ready',
            'failed')), 0) + ? <= COALESCE(limits ->> '$.concurrent_ingests', ?) AND
      COALESCE(COALESCE((SELECT SUM(size_bytes) FROM tallies WHERE tallies.account_id =
            accounts.account_id AND true), 0) + object_bytes + COALESCE((SELECT
            SUM(MAX(COALESCE(length, 0), received, stored_bytes)) FROM uploads WHERE
            uploads.account_id = accounts.account_id AND result_asset_id IS NULL), 0), 0) + ? <=
      COALESCE(limits ->> '$.stored_bytes', ?) AND COALESCE(accounts.record_bytes, 0) + ? <=
      COALESCE(limits ->> '$.record_bytes', ?) AND COALESCE((SELECT neurons * 0.000011 + frames *
          0.0005 + converted_seconds * 0.000023 + images * 0.0005 + dimensions_queried * 1e-8 +
          rows_read * 1e-9 + rows_written * 0.000001 + object_requests * 1.5e-7 + bucket_reads *
          3.6e-7 + bucket_writes * 0.0000045 + requests * 3e-7 + queue_operations * 4e-7 FROM usage
          WHERE usage.account_id = accounts.account_id AND date = date('now')), 0) + ? <=
      COALESCE(limits ->> '$.cost_usd_per_day', ?) AND (SELECT accepts_ingests FROM deployment));
INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
  SELECT job_id, account_id, index_id, asset_id, 'ingest', 'queued', created_at, updated_at
  FROM assets
  WHERE asset_id = ?
  AND job_id = ?;
SELECT limits, (SELECT accepts_ingests FROM deployment) AS acceptsIngests, COALESCE((SELECT
        SUM(assets) FROM tallies WHERE tallies.account_id = accounts.account_id AND state NOT IN
        ('ready', 'failed')), 0) AS concurrent_ingests, COALESCE(COALESCE((SELECT SUM(size_bytes)
          FROM tallies WHERE tallies.account_id = accounts.account_id AND true), 0) + object_bytes +
      COALESCE((SELECT SUM(MAX(COALESCE(length, 0), received, stored_bytes)) FROM uploads WHERE
          uploads.account_id = accounts.account_id AND result_asset_id IS NULL), 0), 0) AS
    stored_bytes, COALESCE(accounts.record_bytes, 0) AS record_bytes, COALESCE((SELECT neurons *
        0.000011 + frames * 0.0005 + converted_seconds * 0.000023 + images * 0.0005 +
        dimensions_queried * 1e-8 + rows_read * 1e-9 + rows_written * 0.000001 + object_requests *
        1.5e-7 + bucket_reads * 3.6e-7 + bucket_writes * 0.0000045 + requests * 3e-7 +
        queue_operations * 4e-7 FROM usage WHERE usage.account_id = accounts.account_id AND date =
        date('now')), 0) AS cost_usd_per_day
  FROM accounts
  WHERE account_id = ?;

-- store/d1/assets.ts listAssets, in D1
SELECT asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId, indices.name AS
    indexName, asset_type AS assetType, title, state, progress, error, warnings, source,
    content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height, duration_ms AS
    durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata, keyframe_ms AS
    keyframeMs, segments, shard, vector_pair AS vectorPair, job_id AS jobId, transcript_job_id AS
    transcriptJobId, transcript_revision AS transcriptRevision, assets.created_at AS createdAt,
    assets.updated_at AS updatedAt
  FROM assets
  JOIN indices USING (index_id)
  JOIN shards USING (index_id, shard)
  WHERE index_id = ?
  AND asset_type = ?
  AND state = ?
  AND substr(asset_id, 5) > substr(?, 5)
  ORDER BY substr(asset_id, 5)
  LIMIT ?;
SELECT SUM(assets) AS total
  FROM tallies
  WHERE (tallies.account_id, tallies.index_id) IN ( SELECT account_id, index_id FROM indices WHERE
      index_id = ?)
  AND asset_type = ?
  AND state = ?;

-- store/d1/assets.ts listAssetsByIds, in D1
SELECT asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId, indices.name AS
    indexName, asset_type AS assetType, title, state, progress, error, warnings, source,
    content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height, duration_ms AS
    durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata, keyframe_ms AS
    keyframeMs, segments, shard, vector_pair AS vectorPair, job_id AS jobId, transcript_job_id AS
    transcriptJobId, transcript_revision AS transcriptRevision, assets.created_at AS createdAt,
    assets.updated_at AS updatedAt
  FROM assets
  JOIN indices USING (index_id)
  JOIN shards USING (index_id, shard)
  WHERE index_id = ?
  AND assets.deleted_at IS NULL
  AND asset_id IN (SELECT value FROM json_each(?));

-- store/d1/assets.ts listCreationTimes, in D1
SELECT asset_id AS assetId, created_at AS createdAt
  FROM assets
  WHERE index_id = ?
  AND asset_id IN (SELECT value FROM json_each(?));

-- store/d1/assets.ts listUndispatchedAssets, in D1
SELECT index_id AS indexId, asset_id AS assetId, asset_type AS assetType, job_id AS jobId
  FROM assets
  WHERE state = 'queued'
  AND revision = 0
  AND created_at < ?
  ORDER BY ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY random()), random()
  LIMIT ?;

-- store/d1/assets.ts listUnknownAssets, in D1
SELECT value AS id
  FROM json_each(?)
  WHERE NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = value AND index_id = ? AND deleted_at IS
      NULL);

-- store/d1/assets.ts listWaitingIndices, in D1
SELECT index_id AS indexId
  FROM (SELECT DISTINCT account_id, index_id FROM assets WHERE state NOT IN ('ready', 'failed') AND
      updated_at < ?)
  ORDER BY ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY random()), random()
  LIMIT ?;

-- store/d1/assets.ts requireAsset, in D1
SELECT asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId, indices.name AS
    indexName, asset_type AS assetType, title, state, progress, error, warnings, source,
    content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height, duration_ms AS
    durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata, keyframe_ms AS
    keyframeMs, segments, shard, vector_pair AS vectorPair, job_id AS jobId, transcript_job_id AS
    transcriptJobId, transcript_revision AS transcriptRevision, assets.created_at AS createdAt,
    assets.updated_at AS updatedAt
  FROM assets
  JOIN indices USING (index_id)
  JOIN shards USING (index_id, shard)
  WHERE asset_id = ?
  AND index_id = ?
  AND asset_type = ?;

-- store/d1/assets.ts updateProperties, in D1
UPDATE OR IGNORE assets
  SET has_audio = ?, warnings = ?
  WHERE asset_id = ?
  AND EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE(COALESCE((SELECT
            SUM(size_bytes) FROM tallies WHERE tallies.account_id = accounts.account_id AND true),
          0) + object_bytes + COALESCE((SELECT SUM(MAX(COALESCE(length, 0), received, stored_bytes))
            FROM uploads WHERE uploads.account_id = accounts.account_id AND result_asset_id IS
            NULL), 0), 0) + ? <= COALESCE(limits ->> '$.stored_bytes', ?));
INSERT INTO usage (account_id, date, ingested_ms)
  SELECT account_id, date('now'), ?
  FROM assets
  WHERE asset_id = ?
  AND changes() > 0
  ON CONFLICT DO UPDATE
  SET ingested_ms = ingested_ms + excluded.ingested_ms;
SELECT limits, (SELECT accepts_ingests FROM deployment) AS acceptsIngests, COALESCE(COALESCE((SELECT
          SUM(size_bytes) FROM tallies WHERE tallies.account_id = accounts.account_id AND true), 0)
      + object_bytes + COALESCE((SELECT SUM(MAX(COALESCE(length, 0), received, stored_bytes)) FROM
          uploads WHERE uploads.account_id = accounts.account_id AND result_asset_id IS NULL), 0),
      0) AS stored_bytes
  FROM accounts
  WHERE account_id = ?;

-- store/d1/deployment.ts getDatabaseFill, in D1
SELECT accepts_ingests AS acceptsIngests, swept_at AS sweptAt
  FROM deployment;

-- store/d1/deployment.ts getOldestWork, in D1
SELECT (SELECT MIN(updated_at) FROM assets WHERE state = 'queued' AND state NOT IN ('ready',
        'failed') AND deleted_at IS NULL) AS queuedAssetAt, (SELECT MIN(updated_at) FROM jobs WHERE
      state = 'queued' AND due_at IS NOT NULL) AS queuedJobAt;

-- store/d1/deployment.ts setAcceptsIngests, in D1
UPDATE deployment
  SET accepts_ingests = ?;

-- store/d1/deployment.ts setSweptAt, in D1
UPDATE deployment
  SET swept_at = ?;

-- store/d1/idempotency.ts beginAttempt, in D1
INSERT INTO idempotency_keys (account_id, idempotency_key, fingerprint, lease_owner, leased_until,
      created_at)
  SELECT ?, ?, ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM idempotency_keys WHERE account_id = ? AND idempotency_key = ?) OR
    EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE(accounts.record_bytes, 0) + ?
      <= COALESCE(limits ->> '$.record_bytes', ?))
  ON CONFLICT DO UPDATE
  SET fingerprint = excluded.fingerprint, lease_owner = excluded.lease_owner, leased_until =
    excluded.leased_until, created_at = excluded.created_at, status = NULL, body = NULL
  WHERE created_at <= ? OR (status IS NULL AND leased_until <= ? AND fingerprint = ?);
SELECT fingerprint, lease_owner AS leaseOwner, leased_until AS leasedUntil, status, body
  FROM idempotency_keys
  WHERE account_id = ?
  AND idempotency_key = ?;

-- store/d1/idempotency.ts dropAttempt, in D1
DELETE
  FROM idempotency_keys
  WHERE account_id = ?
  AND idempotency_key = ?
  AND lease_owner = ?;

-- store/d1/idempotency.ts pruneResponses, in D1
DELETE
  FROM idempotency_keys
  WHERE (account_id, idempotency_key) IN ( SELECT account_id, idempotency_key FROM idempotency_keys
      WHERE created_at <= ? ORDER BY created_at LIMIT ?);

-- store/d1/idempotency.ts renewAttempt, in D1
UPDATE idempotency_keys
  SET leased_until = ?
  WHERE account_id = ?
  AND idempotency_key = ?
  AND lease_owner = ?;

-- store/d1/idempotency.ts storeResponse, in D1
UPDATE idempotency_keys
  SET status = ?, body = ?
  WHERE account_id = ?
  AND idempotency_key = ?
  AND lease_owner = ?;

-- store/d1/imports.ts getImported, in D1
SELECT item
  FROM imports
  WHERE asset_id = ?;

-- store/d1/imports.ts importItems, in D1
INSERT INTO imports (index_id, platform, platform_id, source_id, item, asset_id)
  SELECT ?, ?, value ->> 'platformId', ?, value -> 'item', value ->> '$.asset.assetId'
  FROM json_each(?)
  WHERE value ->> '$.asset.assetId' IS NOT NULL
  AND EXISTS (SELECT 1 FROM indices WHERE index_id = ? AND deleted_at IS NULL)
  ON CONFLICT DO UPDATE
  SET asset_id = excluded.asset_id, item = excluded.item, removed_at = NULL
  WHERE ?
  AND NOT EXISTS (SELECT 1 FROM assets WHERE assets.asset_id = imports.asset_id);
INSERT INTO assets (index_id, shard, account_id, asset_id, asset_type, title, state, source,
      language, metadata, job_id, created_at, updated_at)
  SELECT ?, (SELECT MAX(shard) FROM shards WHERE index_id = ?), ?, asset_id, value ->> 'assetType',
    value ->> 'title', 'queued', value -> '$.asset.source', COALESCE(value ->> '$.asset.language',
      settings ->> '$.language'), ?, value ->> '$.asset.jobId', ?, ?
  FROM json_each(?)
  CROSS
  JOIN imports
  ON imports.index_id = ?
  AND imports.platform = ?
  AND imports.platform_id = value ->> 'platformId'
  AND imports.asset_id = value ->> '$.asset.assetId'
  JOIN indices USING (index_id);
INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
  SELECT job_id, account_id, index_id, asset_id, 'ingest', 'queued', created_at, updated_at
  FROM assets
  WHERE asset_id IN (SELECT value ->> '$.asset.assetId' FROM json_each(?));
INSERT INTO job_items (job_id, platform_id, position, title, url, asset_type, outcome, asset_id,
      error)
  SELECT ?, value ->> 'platformId', value ->> 'position', value ->> 'title', value ->> 'url', value
    ->> 'assetType', CASE WHEN assets.asset_id = value ->> '$.asset.assetId' THEN 'added' WHEN
    assets.asset_id IS NOT NULL THEN 'present' WHEN imports.asset_id IS NOT NULL THEN
    'deleted_locally' ELSE 'unavailable' END, assets.asset_id, CASE WHEN imports.asset_id IS NULL
    THEN value -> 'error' END
  FROM json_each(?)
  LEFT
  JOIN imports
  ON imports.index_id = ?
  AND imports.platform = ?
  AND imports.platform_id = value ->> 'platformId'
  LEFT
  JOIN assets USING (asset_id)
  WHERE true
  ON CONFLICT DO NOTHING;

-- store/d1/imports.ts linkToDuplicate, in D1
UPDATE jobs
  SET state = 'succeeded', progress = 1, result = ?
  WHERE job_id = ?;
UPDATE imports
  SET asset_id = ?
  WHERE asset_id = ?;
UPDATE job_items
  SET asset_id = ?, outcome = 'present'
  WHERE asset_id = ?
  AND outcome = 'added';

-- store/d1/imports.ts listAbsentItems, in D1
SELECT item
  FROM imports
  WHERE source_id = ?
  AND removed_at IS NULL
  AND platform_id NOT IN (SELECT platform_id FROM job_items WHERE job_id = ?)
  ORDER BY random()
  LIMIT ?;

-- store/d1/imports.ts listJobItems, in D1
SELECT platform_id AS platformId, job_items.title, url, job_items.asset_type AS assetType, outcome,
    job_items.asset_id AS assetId, assets.state, COALESCE(assets.error, job_items.error) AS error
  FROM job_items
  LEFT
  JOIN assets USING (asset_id)
  WHERE job_items.job_id = ?
  ORDER BY position, platform_id;

-- store/d1/imports.ts listUnstarted, in D1
SELECT asset_id AS assetId, assets.asset_type AS assetType, assets.job_id AS jobId
  FROM job_items
  JOIN assets USING (asset_id)
  WHERE job_items.job_id = ?
  AND (state = 'queued' AND revision = 0 OR ? AND state = 'failed' AND outcome = 'present');

-- store/d1/imports.ts markRemoved, in D1
INSERT INTO job_items (job_id, platform_id, position, title, url, asset_type, outcome, asset_id)
  SELECT ?, platform_id, ?, item ->> 'title', item ->> 'pageUrl', item ->> 'assetType',
    'removed_upstream', asset_id
  FROM imports
  WHERE index_id = ?
  AND platform = ?
  AND platform_id = ?
  ON CONFLICT DO NOTHING;
UPDATE imports
  SET removed_at = ?
  WHERE index_id = ?
  AND platform = ?
  AND platform_id = ?;

-- store/d1/imports.ts pruneUnchanged, in D1
DELETE
  FROM job_items
  WHERE job_id = ?
  AND outcome IN ('present', 'deleted_locally');

-- store/d1/indices.ts deleteIndexRow, in D1
DELETE
  FROM tallies
  WHERE (tallies.account_id, tallies.index_id) IN ( SELECT account_id, index_id FROM indices WHERE
      index_id = ?);
DELETE
  FROM job_items
  WHERE job_id IN (SELECT job_id FROM jobs WHERE index_id = ? AND kind = 'import');
DELETE
  FROM imports
  WHERE index_id = ?;
DELETE
  FROM sources
  WHERE index_id = ?;
DELETE
  FROM watches
  WHERE index_id = ?;
DELETE
  FROM shards
  WHERE index_id = ?;
DELETE
  FROM indices
  WHERE index_id = ?;

-- store/d1/indices.ts findIndex, in D1
SELECT index_id AS indexId, account_id AS accountId, name, description, metadata, settings,
    created_at AS createdAt, updated_at AS updatedAt, last_traversed_at AS lastTraversedAt,
    revision, (SELECT json_group_array(json_object('shard', shard, 'vectorPair', vector_pair)) FROM
      (SELECT * FROM shards WHERE index_id = indices.index_id ORDER BY shard)) AS shards, (CASE WHEN
      calibration_slope IS NOT NULL AND COALESCE(settings ->> 'calibration', '') <> 'general' THEN
      json_object('slope', calibration_slope, 'offset', calibration_offset, 'tag', calibration_tag)
      END) AS calibration
  FROM indices
  WHERE account_id = ?
  AND name = ?
  AND deleted_at IS NULL;

-- store/d1/indices.ts getSearchableParts, in D1
SELECT index_id AS indexId, account_id AS accountId, name, description, metadata, settings,
    created_at AS createdAt, updated_at AS updatedAt, last_traversed_at AS lastTraversedAt,
    revision, (SELECT json_group_array(json_object('shard', shard, 'vectorPair', vector_pair)) FROM
      (SELECT * FROM shards WHERE index_id = indices.index_id ORDER BY shard)) AS shards, (CASE WHEN
      calibration_slope IS NOT NULL AND COALESCE(settings ->> 'calibration', '') <> 'general' THEN
      json_object('slope', calibration_slope, 'offset', calibration_offset, 'tag', calibration_tag)
      END) AS calibration
  FROM indices
  WHERE index_id = ?;

-- store/d1/indices.ts insertIndex, in D1
INSERT OR IGNORE INTO indices (index_id, account_id, name, description, metadata, settings,
      created_at, updated_at, text_model)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE((SELECT COUNT(*) FROM
          indices WHERE indices.account_id = accounts.account_id AND deleted_at IS NULL), 0) + ? <=
      COALESCE(limits ->> '$.indices', ?) AND COALESCE(accounts.record_bytes, 0) + ? <=
      COALESCE(limits ->> '$.record_bytes', ?));
INSERT OR IGNORE INTO vector_pairs (vector_pair)
  SELECT value
  FROM json_each(?);
INSERT INTO shards (index_id, shard, vector_pair)
  SELECT index_id, 0, (SELECT vector_pair FROM vector_pairs WHERE vector_pair IN (SELECT value FROM
        json_each(?)) ORDER BY (vector_pair IN (SELECT value FROM json_each(?)) AND NOT
        (vector_count >= ?) AND shard_count < ?) DESC, IIF((vector_pair IN (SELECT value FROM
            json_each(?)) AND NOT (vector_count >= ?) AND shard_count < ?), -vector_count,
        vector_count), vector_pair LIMIT 1)
  FROM indices
  WHERE index_id = ?;
SELECT limits, (SELECT accepts_ingests FROM deployment) AS acceptsIngests, COALESCE((SELECT COUNT(*)
        FROM indices WHERE indices.account_id = accounts.account_id AND deleted_at IS NULL), 0) AS
    indices, COALESCE(accounts.record_bytes, 0) AS record_bytes
  FROM accounts
  WHERE account_id = ?;

-- store/d1/indices.ts listIndices, in D1
SELECT index_id AS indexId, account_id AS accountId, name, description, metadata, settings,
    created_at AS createdAt, updated_at AS updatedAt, last_traversed_at AS lastTraversedAt,
    revision, (SELECT json_group_array(json_object('shard', shard, 'vectorPair', vector_pair)) FROM
      (SELECT * FROM shards WHERE index_id = indices.index_id ORDER BY shard)) AS shards, (CASE WHEN
      calibration_slope IS NOT NULL AND COALESCE(settings ->> 'calibration', '') <> 'general' THEN
      json_object('slope', calibration_slope, 'offset', calibration_offset, 'tag', calibration_tag)
      END) AS calibration
  FROM indices
  WHERE account_id = ?
  AND deleted_at IS NULL
  AND index_id > ?
  ORDER BY index_id
  LIMIT ?;
SELECT COUNT(*) AS total
  FROM indices
  WHERE account_id = ?
  AND deleted_at IS NULL;

-- store/d1/indices.ts listIndicesByName, in D1
SELECT index_id AS indexId, account_id AS accountId, name, description, metadata, settings,
    created_at AS createdAt, updated_at AS updatedAt, last_traversed_at AS lastTraversedAt,
    revision, (SELECT json_group_array(json_object('shard', shard, 'vectorPair', vector_pair)) FROM
      (SELECT * FROM shards WHERE index_id = indices.index_id ORDER BY shard)) AS shards, (CASE WHEN
      calibration_slope IS NOT NULL AND COALESCE(settings ->> 'calibration', '') <> 'general' THEN
      json_object('slope', calibration_slope, 'offset', calibration_offset, 'tag', calibration_tag)
      END) AS calibration
  FROM indices
  WHERE account_id = ?
  AND name IN (SELECT value FROM json_each(?))
  AND deleted_at IS NULL;

-- store/d1/indices.ts listNewestIndices, in D1
SELECT index_id AS indexId, account_id AS accountId, name, description, metadata, settings,
    created_at AS createdAt, updated_at AS updatedAt, last_traversed_at AS lastTraversedAt,
    revision, (SELECT json_group_array(json_object('shard', shard, 'vectorPair', vector_pair)) FROM
      (SELECT * FROM shards WHERE index_id = indices.index_id ORDER BY shard)) AS shards, (CASE WHEN
      calibration_slope IS NOT NULL AND COALESCE(settings ->> 'calibration', '') <> 'general' THEN
      json_object('slope', calibration_slope, 'offset', calibration_offset, 'tag', calibration_tag)
      END) AS calibration
  FROM indices
  WHERE account_id = ?
  AND deleted_at IS NULL
  ORDER BY COALESCE( (SELECT MAX(substr(asset_id, 5)) FROM assets WHERE assets.index_id =
        indices.index_id), substr(index_id, 5)) DESC
  LIMIT ?;
SELECT name
  FROM indices
  WHERE account_id = ?
  AND deleted_at IS NULL
  ORDER BY COALESCE( (SELECT MAX(substr(asset_id, 5)) FROM assets WHERE assets.index_id =
        indices.index_id), substr(index_id, 5)) DESC
  LIMIT -1 OFFSET ?;

-- store/d1/indices.ts listSoftDeletedIndices, in D1
SELECT account_id AS accountId, index_id AS indexId
  FROM indices
  WHERE deleted_at < ?
  AND NOT EXISTS ( SELECT 1 FROM jobs WHERE jobs.account_id = indices.account_id AND jobs.index_id =
      indices.index_id AND kind = 'delete_index' AND state IN ('queued', 'running') )
  ORDER BY ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY random()), random()
  LIMIT ?;

-- store/d1/indices.ts requireIndexWithinQuota, in D1
SELECT limits, (SELECT accepts_ingests FROM deployment) AS acceptsIngests, COALESCE((SELECT searches
        FROM usage WHERE usage.account_id = accounts.account_id AND date = date('now')), 0) AS
    searches_per_day, COALESCE((SELECT SUM(assets) FROM tallies WHERE tallies.account_id =
        accounts.account_id AND state NOT IN ('ready', 'failed')), 0) AS concurrent_ingests,
    COALESCE((SELECT neurons * 0.000011 + frames * 0.0005 + converted_seconds * 0.000023 + images *
        0.0005 + dimensions_queried * 1e-8 + rows_read * 1e-9 + rows_written * 0.000001 +
        object_requests * 1.5e-7 + bucket_reads * 3.6e-7 + bucket_writes * 0.0000045 + requests *
        3e-7 + queue_operations * 4e-7 FROM usage WHERE usage.account_id = accounts.account_id AND
        date = date('now')), 0) AS cost_usd_per_day
  FROM accounts
  WHERE account_id = ?;

-- store/d1/indices.ts softDeleteIndex, in D1
UPDATE indices
  SET deleted_at = ?
  WHERE index_id = ?;

-- store/d1/indices.ts updateCalibration, in D1
UPDATE indices
  SET calibration_slope = ?, calibration_offset = ?, calibration_tag = ?
  WHERE index_id = ?
  AND (calibration_slope IS NOT ? OR calibration_offset IS NOT ? OR calibration_tag IS NOT ?);

-- store/d1/indices.ts updateIndex, in D1
UPDATE indices
  SET description = COALESCE(?, description), metadata = COALESCE(?, metadata), settings =
    COALESCE(?, settings), updated_at = ?
  WHERE index_id = ?
  AND (? <= 0 + length(CAST(description AS BLOB)) + length(CAST(metadata AS BLOB)) +
      length(CAST(settings AS BLOB)) OR EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND
        COALESCE(accounts.record_bytes, 0) + ? <= COALESCE(limits ->> '$.record_bytes', ?)));

-- store/d1/jobs.ts cancelJob, in D1
UPDATE jobs
  SET state = 'cancelled', updated_at = ?
  WHERE job_id = ?
  AND kind IN ('search', 'transcript', 'import', 'import_archive', 'traverse', 'playback_copy',
      'repair', 'preview_watch')
  AND state IN ('queued', 'running')
  AND NOT EXISTS ( SELECT 1 FROM assets WHERE assets.asset_id = jobs.asset_id AND transcript_job_id
      = jobs.job_id );

-- store/d1/jobs.ts claimJob, in D1
UPDATE jobs
  SET state = 'running', leased = 1, due_at = ?, updated_at = ?
  WHERE job_id = ?
  AND state IN ('queued', 'running')
  AND (leased = 0 OR due_at <= ?);
SELECT state
  FROM jobs
  WHERE job_id = ?;

-- store/d1/jobs.ts deferJob, in D1
UPDATE jobs
  SET leased = 0, dispatches = 0, error = ?, due_at = ?
  WHERE job_id = ?
  AND leased = 1;

-- store/d1/jobs.ts failExhaustedJobs, in D1
UPDATE jobs
  SET state = 'failed', error = ?, updated_at = ?
  WHERE job_id IN ( SELECT job_id FROM jobs WHERE due_at <= ? AND dispatches >= ? ORDER BY
      ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY due_at), due_at LIMIT ? )
  RETURNING message;

-- store/d1/jobs.ts getUnfinishedJob, in D1
SELECT job_id
  FROM jobs
  WHERE asset_id = ?
  AND kind = ?
  AND state IN ('queued', 'running');

-- store/d1/jobs.ts insertJob, in D1
INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, message, due_at, created_at,
      updated_at)
  SELECT ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE(accounts.record_bytes, 0) +
      ? <= COALESCE(limits ->> '$.record_bytes', ?));
UPDATE jobs
  SET state = 'cancelled', updated_at = ?
  WHERE ? = 'transcript'
  AND asset_id = ?
  AND kind = 'transcript'
  AND state IN ('queued', 'running')
  AND job_id <> ?
  AND EXISTS (SELECT 1 FROM jobs WHERE job_id = ?);

-- store/d1/jobs.ts listJobs, in D1
SELECT jobs.job_id AS jobId, jobs.index_id AS indexId, indices.name AS indexName, jobs.asset_id AS
    assetId, assets.title AS assetTitle, kind, jobs.state, jobs.progress, result, jobs.error,
    jobs.created_at AS createdAt, jobs.updated_at AS updatedAt
  FROM jobs
  LEFT
  JOIN indices
  ON indices.index_id = jobs.index_id
  LEFT
  JOIN assets
  ON assets.asset_id = jobs.asset_id
  WHERE jobs.account_id = ?
  AND (? = '' OR jobs.job_id < ?)
  ORDER BY jobs.job_id DESC
  LIMIT ?;
SELECT COUNT(*) AS total
  FROM jobs
  WHERE account_id = ?;

-- store/d1/jobs.ts pruneJobs, in D1
UPDATE jobs
  SET retained_at = ?
  WHERE job_id IN (SELECT job_id FROM jobs WHERE retained_at <= ? ORDER BY retained_at LIMIT ?)
  AND (EXISTS (SELECT 1 FROM sources WHERE sources.job_id = jobs.job_id) OR EXISTS (SELECT 1 FROM
        assets WHERE assets.asset_id = jobs.asset_id AND assets.job_id = jobs.job_id AND
        assets.state <> 'ready'));
DELETE
  FROM job_items
  WHERE (job_id, platform_id) IN ( SELECT job_id, platform_id FROM job_items WHERE job_id IN (SELECT
        job_id FROM jobs WHERE job_id IN (SELECT job_id FROM jobs WHERE retained_at <= ? ORDER BY
          retained_at LIMIT ?) AND NOT (EXISTS (SELECT 1 FROM sources WHERE sources.job_id =
            jobs.job_id) OR EXISTS (SELECT 1 FROM assets WHERE assets.asset_id = jobs.asset_id AND
            assets.job_id = jobs.job_id AND assets.state <> 'ready'))) ORDER BY job_id LIMIT ?);
DELETE
  FROM jobs
  WHERE job_id IN (SELECT job_id FROM jobs WHERE retained_at <= ? ORDER BY retained_at LIMIT ?)
  AND NOT (EXISTS (SELECT 1 FROM sources WHERE sources.job_id = jobs.job_id) OR EXISTS (SELECT 1
        FROM assets WHERE assets.asset_id = jobs.asset_id AND assets.job_id = jobs.job_id AND
        assets.state <> 'ready'))
  AND NOT EXISTS (SELECT 1 FROM job_items WHERE job_items.job_id = jobs.job_id);

-- store/d1/jobs.ts redispatchOverdueJobs, in D1
UPDATE jobs
  SET leased = 0, dispatches = dispatches + 1, due_at = ? + ? * (dispatches + 1)
  WHERE job_id IN ( SELECT job_id FROM jobs WHERE due_at <= ? ORDER BY ROW_NUMBER() OVER (PARTITION
        BY account_id ORDER BY due_at), due_at LIMIT ? )
  RETURNING message;

-- store/d1/jobs.ts releaseJob, in D1
UPDATE jobs
  SET leased = 0, due_at = ?
  WHERE job_id = ?
  AND leased = 1;

-- store/d1/jobs.ts renewJob, in D1
UPDATE jobs
  SET due_at = ?
  WHERE job_id = ?
  AND leased = 1;

-- store/d1/jobs.ts requireJob, in D1
SELECT jobs.job_id AS jobId, jobs.index_id AS indexId, indices.name AS indexName, jobs.asset_id AS
    assetId, assets.title AS assetTitle, kind, jobs.state, jobs.progress, result, jobs.error,
    jobs.created_at AS createdAt, jobs.updated_at AS updatedAt
  FROM jobs
  LEFT
  JOIN indices
  ON indices.index_id = jobs.index_id
  LEFT
  JOIN assets
  ON assets.asset_id = jobs.asset_id
  WHERE jobs.job_id = ?
  AND jobs.account_id = ?;

-- store/d1/jobs.ts updateJob, in D1
UPDATE jobs
  SET state = ?, progress = MAX(progress, ?), result = COALESCE(?, result), error = ?, dispatches =
    0, updated_at = ?
  WHERE job_id = ?
  AND state IN ('queued', 'running')
  AND (? <= 0 + length(CAST(result AS BLOB)) OR EXISTS (SELECT 1 FROM accounts WHERE account_id = ?
        AND COALESCE(accounts.record_bytes, 0) + ? <= COALESCE(limits ->> '$.record_bytes', ?)));
UPDATE jobs
  SET state = ?, progress = MAX(progress, ?), result = COALESCE(?, result), error = ?, dispatches =
    0, updated_at = ?
  WHERE job_id = ?
  AND state IN ('queued', 'running')
  AND true;

-- store/d1/keys.ts admitKey, in D1
INSERT OR IGNORE INTO accounts (account_id, name, created_at)
  VALUES (?, ?, ?);
INSERT OR IGNORE INTO api_keys (key_id, account_id, name, scopes, created_at, expires_at)
  SELECT ?, ?, ?, ?, ?, ?
  WHERE true;
SELECT revoked_at
  FROM api_keys
  WHERE key_id = ?;

-- store/d1/keys.ts insertKey, in D1
INSERT OR IGNORE INTO api_keys (key_id, account_id, name, scopes, created_at, expires_at)
  SELECT ?, ?, ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE((SELECT COUNT(*) FROM
          api_keys WHERE api_keys.account_id = accounts.account_id AND revoked_at IS NULL AND
          COALESCE(expires_at, 9e15) > unixepoch() * 1000), 0) + ? <= COALESCE(limits ->> '$.keys',
        ?) AND COALESCE(accounts.record_bytes, 0) + ? <= COALESCE(limits ->> '$.record_bytes', ?));
SELECT limits, (SELECT accepts_ingests FROM deployment) AS acceptsIngests, COALESCE((SELECT COUNT(*)
        FROM api_keys WHERE api_keys.account_id = accounts.account_id AND revoked_at IS NULL AND
        COALESCE(expires_at, 9e15) > unixepoch() * 1000), 0) AS keys,
    COALESCE(accounts.record_bytes, 0) AS record_bytes
  FROM accounts
  WHERE account_id = ?;

-- store/d1/keys.ts isKnownKey, in D1
SELECT 1
  FROM api_keys
  WHERE key_id = ?
  AND revoked_at IS NULL;

-- store/d1/keys.ts listKeys, in D1
SELECT key_id AS keyId, name, scopes, created_at AS createdAt, expires_at AS expiresAt, last_used_at
    AS lastUsedAt, revoked_at AS revokedAt, kid
  FROM api_keys
  WHERE account_id = ?
  AND key_id > ?
  ORDER BY key_id
  LIMIT ?;
SELECT COUNT(*) AS total
  FROM api_keys
  WHERE account_id = ?;

-- store/d1/keys.ts pruneExpiredKeys, in D1
DELETE
  FROM api_keys
  WHERE key_id IN (SELECT key_id FROM api_keys WHERE expires_at < ? ORDER BY expires_at LIMIT ?);

-- store/d1/keys.ts revokeKey, in D1
UPDATE api_keys
  SET revoked_at = COALESCE(revoked_at, ?)
  WHERE key_id = ?
  AND account_id = ?
  RETURNING key_id AS keyId, name, scopes, created_at AS createdAt, expires_at AS expiresAt,
    last_used_at AS lastUsedAt, revoked_at AS revokedAt, kid;

-- store/d1/keys.ts touchKey, in D1
UPDATE api_keys
  SET last_used_at = ?, kid = ?
  WHERE key_id = ?
  AND revoked_at IS NULL
  AND COALESCE(last_used_at, 0) <= ? - ?;

-- store/d1/object-bytes.ts chargeAnyway, in D1
INSERT INTO object_bytes (owner, account_id, bytes, charged_at, expires_at)
  SELECT ?, ?, ?, ?, IIF(EXISTS (SELECT 1 FROM assets WHERE asset_id = ?), NULL, ?)
  WHERE true
  ON CONFLICT DO UPDATE
  SET bytes = bytes + excluded.bytes, charged_at = excluded.charged_at, expires_at =
    excluded.expires_at;

-- store/d1/object-bytes.ts chargeBytes, in D1
INSERT INTO object_bytes (owner, account_id, bytes, charged_at, expires_at)
  SELECT ?, ?, ?, ?, IIF(EXISTS (SELECT 1 FROM assets WHERE asset_id = ?), NULL, ?)
  WHERE EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE(COALESCE((SELECT
            SUM(size_bytes) FROM tallies WHERE tallies.account_id = accounts.account_id AND true),
          0) + object_bytes + COALESCE((SELECT SUM(MAX(COALESCE(length, 0), received, stored_bytes))
            FROM uploads WHERE uploads.account_id = accounts.account_id AND result_asset_id IS
            NULL), 0), 0) + ? <= COALESCE(limits ->> '$.stored_bytes', ?))
  ON CONFLICT DO UPDATE
  SET bytes = bytes + excluded.bytes, charged_at = excluded.charged_at, expires_at =
    excluded.expires_at;

-- store/d1/object-bytes.ts deleteExpiredCharges, in D1
DELETE
  FROM object_bytes
  WHERE expires_at < ?
  AND NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = owner);

-- store/d1/object-bytes.ts recordBytesOf, in D1
INSERT INTO object_bytes (owner, account_id, bytes, charged_at)
  SELECT asset_id, ?, ?, ?
  FROM assets
  WHERE asset_id = ?
  ON CONFLICT DO UPDATE
  SET bytes = excluded.bytes, expires_at = NULL
  WHERE bytes <> excluded.bytes
  AND charged_at < excluded.charged_at;

-- store/d1/object-bytes.ts releaseAllBytes, in D1
DELETE
  FROM object_bytes
  WHERE owner IN (SELECT value FROM json_each(?));

-- store/d1/pair-records.ts recordVectorCounts, in D1
INSERT INTO vector_pairs (vector_pair, vector_count)
  SELECT value ->> 'number', value ->> 'count'
  FROM json_each(?)
  WHERE true
  ON CONFLICT DO UPDATE
  SET vector_count = excluded.vector_count
  WHERE vector_count <> excluded.vector_count;
SELECT 1
  FROM vector_pairs
  WHERE (vector_pair IN (SELECT value FROM json_each(?)) AND NOT (vector_count >= ?) AND shard_count
      < ?)
  LIMIT 1;

-- store/d1/quotas.ts getLimits, in D1
SELECT limits
  FROM accounts
  WHERE account_id = ?;

-- store/d1/shards.ts listShards, in D1
SELECT shard, vector_pair AS vectorPair
  FROM shards
  WHERE index_id = ?
  ORDER BY shard;

-- store/d1/shards.ts openShardIfFull, in D1
UPDATE shards
  SET database_bytes = ?
  WHERE index_id = ?
  AND shard = ?;
INSERT OR IGNORE INTO shards (index_id, shard, vector_pair)
  SELECT index_id, shard + 1, (SELECT vector_pair FROM vector_pairs WHERE vector_pair IN (SELECT
        value FROM json_each(?)) ORDER BY (vector_pair IN (SELECT value FROM json_each(?)) AND NOT
        (vector_count >= ?) AND shard_count < ?) DESC, IIF((vector_pair IN (SELECT value FROM
            json_each(?)) AND NOT (vector_count >= ?) AND shard_count < ?), -vector_count,
        vector_count), vector_pair LIMIT 1)
  FROM shards
  JOIN vector_pairs USING (vector_pair)
  WHERE index_id = ?
  AND shard = ?
  AND ((vector_count >= ?) AND EXISTS (SELECT 1 FROM vector_pairs WHERE (vector_pair IN (SELECT
            value FROM json_each(?)) AND NOT (vector_count >= ?) AND shard_count < ?)));

-- store/d1/sources.ts beginSync, in D1
UPDATE sources
  SET job_id = ?
  WHERE source_id = ?
  AND NOT EXISTS ( SELECT 1 FROM jobs WHERE jobs.job_id = sources.job_id AND state IN ('queued',
        'running'));

-- store/d1/sources.ts deleteSource, in D1
UPDATE jobs
  SET state = 'cancelled', updated_at = ?
  WHERE state IN ('queued', 'running')
  AND job_id IN ( SELECT job_id FROM sources WHERE source_id = ? AND index_id = ?);
DELETE
  FROM sources
  WHERE source_id = ?
  AND index_id = ?;

-- store/d1/sources.ts getSource, in D1
SELECT source_id AS sourceId, sources.account_id AS accountId, sources.index_id AS indexId,
    platform, request, listing, item_limit AS itemLimit, metadata, follow, validators, sync_cursor
    AS syncCursor, sources.job_id AS jobId, synced_at AS syncedAt, sources.created_at AS createdAt
  FROM sources
  WHERE source_id = ?;

-- store/d1/sources.ts listFollowedSources, in D1
SELECT source_id AS id
  FROM sources
  WHERE index_id = ?
  AND follow = 1
  AND NOT EXISTS ( SELECT 1 FROM jobs WHERE jobs.job_id = sources.job_id AND state IN ('queued',
        'running'))
  ORDER BY job_id
  LIMIT ?;

-- store/d1/sources.ts listSources, in D1
SELECT source_id AS sourceId, sources.account_id AS accountId, sources.index_id AS indexId,
    platform, request, listing, item_limit AS itemLimit, metadata, follow, validators, sync_cursor
    AS syncCursor, sources.job_id AS jobId, synced_at AS syncedAt, sources.created_at AS createdAt,
    COALESCE(state, 'queued') AS jobState, error AS jobError, (SELECT COUNT(*) FROM imports WHERE
      imports.source_id = sources.source_id) AS items, (SELECT COUNT(removed_at) FROM imports WHERE
      imports.source_id = sources.source_id) AS removedUpstream
  FROM sources
  LEFT
  JOIN jobs USING (job_id)
  WHERE sources.index_id = ?
  AND source_id > ?
  ORDER BY source_id
  LIMIT ?;
SELECT COUNT(*) AS total
  FROM sources
  WHERE index_id = ?;

-- store/d1/sources.ts putSource, in D1
INSERT INTO sources (source_id, account_id, index_id, platform, request, item_limit, metadata,
      follow, job_id, created_at)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE(accounts.record_bytes, 0) +
      ? <= COALESCE(limits ->> '$.record_bytes', ?))
  ON CONFLICT (index_id, platform, request) DO UPDATE
  SET item_limit = excluded.item_limit, metadata = excluded.metadata, validators = NULL, follow =
    MAX(follow, excluded.follow), job_id = CASE WHEN EXISTS ( SELECT 1 FROM jobs WHERE jobs.job_id =
      sources.job_id AND state IN ('queued', 'running')) THEN sources.job_id ELSE excluded.job_id
    END
  RETURNING source_id AS sourceId, sources.account_id AS accountId, sources.index_id AS indexId,
    platform, request, listing, item_limit AS itemLimit, metadata, follow, validators, sync_cursor
    AS syncCursor, sources.job_id AS jobId, synced_at AS syncedAt, sources.created_at AS createdAt;

-- store/d1/sources.ts updateSource, in D1
UPDATE sources
  SET listing = ?, sync_cursor = ?, synced_at = ?
  WHERE source_id = ?;

-- store/d1/stored-assets.ts insertStoredAsset, in D1
INSERT OR IGNORE INTO shards (index_id, shard, vector_pair)
  VALUES (?, ?, ?);
INSERT OR IGNORE INTO assets (asset_id, index_id, shard, account_id, asset_type, title, state,
      progress, revision, warnings, source, content_type, size_bytes, sha256, width, height,
      duration_ms, fps, has_audio, language, technical, metadata, keyframe_ms, segments, waveform,
      job_id, transcript_job_id, searchable, ready_at, facts_revision, content_revision,
      archived_revision, created_at, updated_at)
  VALUES (?, ?, ?, ?, ?, ?, 'ready', 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1,
      ?, 1, 1, 1, ?, ?);
INSERT OR IGNORE INTO transcripts (asset_id, language, source, cues, error, created_at)
  SELECT asset_id, ?, ?, ?, ?, ?
  FROM assets
  WHERE asset_id = ?
  AND ? IS NOT NULL;

-- store/d1/tallies.ts areTalliesCorrect, in D1
SELECT COUNT(*) AS differences
  FROM ( SELECT * FROM (SELECT account_id, index_id, asset_type, state, COUNT(*), SUM(segments),
        SUM(duration_ms), SUM(size_bytes) FROM assets WHERE index_id = ? GROUP BY account_id,
        index_id, asset_type, state EXCEPT SELECT account_id, index_id, asset_type, state, assets,
        segments, duration_ms, size_bytes FROM tallies WHERE (tallies.account_id, tallies.index_id)
        IN ( SELECT account_id, index_id FROM indices WHERE index_id = ?) AND (assets <> 0 OR
          segments <> 0 OR duration_ms <> 0 OR size_bytes <> 0)) UNION ALL SELECT * FROM (SELECT
        account_id, index_id, asset_type, state, assets, segments, duration_ms, size_bytes FROM
        tallies WHERE (tallies.account_id, tallies.index_id) IN ( SELECT account_id, index_id FROM
          indices WHERE index_id = ?) AND (assets <> 0 OR segments <> 0 OR duration_ms <> 0 OR
          size_bytes <> 0) EXCEPT SELECT account_id, index_id, asset_type, state, COUNT(*),
        SUM(segments), SUM(duration_ms), SUM(size_bytes) FROM assets WHERE index_id = ? GROUP BY
        account_id, index_id, asset_type, state) );

-- store/d1/tallies.ts listTallies, in D1
SELECT index_id AS indexId, asset_type AS assetType, state, assets, segments, duration_ms AS
    durationMs, size_bytes AS sizeBytes
  FROM tallies
  JOIN indices USING (index_id, account_id)
  WHERE account_id = ?
  AND (? IS NULL OR index_id = ?)
  AND deleted_at IS NULL;

-- store/d1/tallies.ts recountTallies, in D1
INSERT INTO tallies
  SELECT account_id, index_id, asset_type, state, COUNT(*), SUM(segments), SUM(duration_ms),
    SUM(size_bytes)
  FROM assets
  WHERE index_id = ?
  GROUP BY account_id, index_id, asset_type, state;

-- store/d1/traversals.ts getTraversal, in D1
SELECT job_id AS jobId, state
  FROM jobs
  WHERE index_id = ?
  AND kind = 'traverse'
  AND state IN ('queued', 'running');

-- store/d1/traversals.ts incrementRevision, in D1
UPDATE indices
  SET revision = revision + 1
  WHERE index_id = ?;

-- store/d1/traversals.ts isIndexLive, in D1
SELECT 1 AS live
  FROM indices
  WHERE index_id = ?
  AND deleted_at IS NULL;

-- store/d1/traversals.ts listIndicesDue, in D1
SELECT indices.account_id AS accountId, index_id AS indexId
  FROM indices
  JOIN accounts USING (account_id)
  WHERE accounts.record_bytes < COALESCE(limits ->> '$.record_bytes', 1073741824)
  AND index_id IN ( SELECT index_id FROM indices WHERE deleted_at IS NULL AND traverse_due_at <= ?
      UNION ALL SELECT index_id FROM indices WHERE deleted_at IS NULL AND text_model < ? UNION ALL
      SELECT index_id FROM indices WHERE deleted_at IS NULL AND text_model > ? )
  AND NOT EXISTS ( SELECT 1 FROM jobs WHERE jobs.index_id = indices.index_id AND kind = 'traverse'
      AND (jobs.created_at > ? OR jobs.state IN ('queued', 'running')) )
  ORDER BY ROW_NUMBER() OVER (PARTITION BY indices.account_id ORDER BY traverse_due_at),
    traversal_started_at, traverse_due_at
  LIMIT ?;

-- store/d1/traversals.ts markTraversed, in D1
UPDATE indices
  SET last_traversed_at = ?, text_model = CASE WHEN ? THEN ? ELSE '' END
  WHERE index_id = ?;

-- store/d1/traversals.ts recordTurns, in D1
UPDATE accounts
  SET traversal_started_at = ?
  WHERE account_id IN (SELECT value FROM json_each(?));

-- store/d1/upload-lists.ts listExpiredUploads, in D1
SELECT upload_id AS uploadId, uploads.account_id AS accountId, index_id AS indexId, indices.name AS
    indexName, indices.settings, title, uploads.metadata, upload_metadata AS uploadMetadata, length,
    received, stored_bytes AS storedBytes, token, tail, sha256_state AS sha256State, sha256,
    asset_id AS assetId, asset_type AS assetType, content_type AS contentType, storage_id AS
    storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt, uploads.updated_at
    AS updatedAt, expires_at AS expiresAt
  FROM uploads
  JOIN indices USING (index_id)
  WHERE expires_at <= ? OR removed_at <= ?
  ORDER BY ROW_NUMBER() OVER (PARTITION BY uploads.account_id ORDER BY random()), random()
  LIMIT ?;

-- store/d1/upload-lists.ts listIndexUploads, in D1
SELECT upload_id AS uploadId, uploads.account_id AS accountId, index_id AS indexId, indices.name AS
    indexName, indices.settings, title, uploads.metadata, upload_metadata AS uploadMetadata, length,
    received, stored_bytes AS storedBytes, token, tail, sha256_state AS sha256State, sha256,
    asset_id AS assetId, asset_type AS assetType, content_type AS contentType, storage_id AS
    storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt, uploads.updated_at
    AS updatedAt, expires_at AS expiresAt
  FROM uploads
  JOIN indices USING (index_id)
  WHERE index_id = ?
  ORDER BY ROW_NUMBER() OVER (PARTITION BY uploads.account_id ORDER BY random()), random()
  LIMIT ?;

-- store/d1/upload-lists.ts listReceivedUploads, in D1
SELECT upload_id AS uploadId, uploads.account_id AS accountId, index_id AS indexId, indices.name AS
    indexName, indices.settings, title, uploads.metadata, upload_metadata AS uploadMetadata, length,
    received, stored_bytes AS storedBytes, token, tail, sha256_state AS sha256State, sha256,
    asset_id AS assetId, asset_type AS assetType, content_type AS contentType, storage_id AS
    storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt, uploads.updated_at
    AS updatedAt, expires_at AS expiresAt
  FROM uploads
  JOIN indices USING (index_id)
  WHERE sha256 IS NOT NULL
  AND result_asset_id IS NULL
  AND removed_at IS NULL
  AND deleted_at IS NULL
  AND uploads.updated_at < ?
  ORDER BY ROW_NUMBER() OVER (PARTITION BY uploads.account_id ORDER BY random()), random()
  LIMIT ?;

-- store/d1/upload-lists.ts pageOpenUploads, in D1
SELECT upload_id AS uploadId, uploads.account_id AS accountId, index_id AS indexId, indices.name AS
    indexName, indices.settings, title, uploads.metadata, upload_metadata AS uploadMetadata, length,
    received, stored_bytes AS storedBytes, token, tail, sha256_state AS sha256State, sha256,
    asset_id AS assetId, asset_type AS assetType, content_type AS contentType, storage_id AS
    storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt, uploads.updated_at
    AS updatedAt, expires_at AS expiresAt
  FROM uploads
  JOIN indices USING (index_id)
  WHERE index_id = ?
  AND result_asset_id IS NULL
  AND removed_at IS NULL
  AND expires_at > ?
  AND upload_id > ?
  ORDER BY upload_id
  LIMIT ?;
SELECT COUNT(*) AS total
  FROM uploads
  WHERE index_id = ?
  AND result_asset_id IS NULL
  AND removed_at IS NULL
  AND expires_at > ?;

-- store/d1/uploads.ts allocatePartNumber, in D1
UPDATE uploads
  SET part_number = part_number + 1, stored_bytes = ?
  WHERE upload_id = ?
  AND token = ?
  AND true
  RETURNING part_number AS number;
SELECT 1
  FROM uploads
  WHERE upload_id = ?
  AND token = ?;

-- store/d1/uploads.ts beginUploadRemoval, in D1
UPDATE uploads
  SET token = NULL, removed_at = COALESCE(removed_at, ?)
  WHERE upload_id = ?;

-- store/d1/uploads.ts commitUpload, in D1
INSERT INTO upload_parts (upload_id, number, etag)
  SELECT upload_id, value ->> 'partNumber', value ->> 'etag'
  FROM uploads, json_each(?)
  WHERE upload_id = ?
  AND token = ?;
UPDATE uploads
  SET received = ?, tail = ?, sha256_state = ?, sha256 = ?, asset_id = ?, asset_type = ?,
    content_type = ?, storage_id = ?, updated_at = ?, expires_at = ?
  WHERE upload_id = ?
  AND token = ?;

-- store/d1/uploads.ts deleteUploadRow, in D1
DELETE
  FROM uploads
  WHERE upload_id = ?;

-- store/d1/uploads.ts discardParts, in D1
UPDATE uploads
  SET stored_bytes = received
  WHERE upload_id = ?
  AND token = ?;

-- store/d1/uploads.ts getUpload, in D1
SELECT upload_id AS uploadId, uploads.account_id AS accountId, index_id AS indexId, indices.name AS
    indexName, indices.settings, title, uploads.metadata, upload_metadata AS uploadMetadata, length,
    received, stored_bytes AS storedBytes, token, tail, sha256_state AS sha256State, sha256,
    asset_id AS assetId, asset_type AS assetType, content_type AS contentType, storage_id AS
    storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt, uploads.updated_at
    AS updatedAt, expires_at AS expiresAt
  FROM uploads
  JOIN indices USING (index_id)
  WHERE index_id = ?
  AND upload_id = ?
  AND removed_at IS NULL;

-- store/d1/uploads.ts insertUpload, in D1
INSERT INTO uploads (upload_id, account_id, index_id, title, metadata, upload_metadata, length,
      created_at, updated_at, expires_at)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE((SELECT COUNT(*) FROM
          uploads WHERE uploads.account_id = accounts.account_id AND result_asset_id IS NULL), 0) +
      ? <= COALESCE(limits ->> '$.open_uploads', ?) AND COALESCE((SELECT SUM(assets) FROM tallies
          WHERE tallies.account_id = accounts.account_id AND state NOT IN ('ready', 'failed')), 0) +
      ? <= COALESCE(limits ->> '$.concurrent_ingests', ?) AND COALESCE(COALESCE((SELECT
            SUM(size_bytes) FROM tallies WHERE tallies.account_id = accounts.account_id AND true),
          0) + object_bytes + COALESCE((SELECT SUM(MAX(COALESCE(length, 0), received, stored_bytes))
            FROM uploads WHERE uploads.account_id = accounts.account_id AND result_asset_id IS
            NULL), 0), 0) + ? <= COALESCE(limits ->> '$.stored_bytes', ?) AND
      COALESCE(accounts.record_bytes, 0) + ? <= COALESCE(limits ->> '$.record_bytes', ?) AND
      COALESCE((SELECT neurons * 0.000011 + frames * 0.0005 + converted_seconds * 0.000023 + images
          * 0.0005 + dimensions_queried * 1e-8 + rows_read * 1e-9 + rows_written * 0.000001 +
          object_requests * 1.5e-7 + bucket_reads * 3.6e-7 + bucket_writes * 0.0000045 + requests *
          3e-7 + queue_operations * 4e-7 FROM usage WHERE usage.account_id = accounts.account_id AND
          date = date('now')), 0) + ? <= COALESCE(limits ->> '$.cost_usd_per_day', ?) AND (SELECT
        accepts_ingests FROM deployment));
SELECT limits, (SELECT accepts_ingests FROM deployment) AS acceptsIngests, COALESCE((SELECT COUNT(*)
        FROM uploads WHERE uploads.account_id = accounts.account_id AND result_asset_id IS NULL), 0)
    AS open_uploads, COALESCE((SELECT SUM(assets) FROM tallies WHERE tallies.account_id =
        accounts.account_id AND state NOT IN ('ready', 'failed')), 0) AS concurrent_ingests,
    COALESCE(COALESCE((SELECT SUM(size_bytes) FROM tallies WHERE tallies.account_id =
          accounts.account_id AND true), 0) + object_bytes + COALESCE((SELECT
          SUM(MAX(COALESCE(length, 0), received, stored_bytes)) FROM uploads WHERE
          uploads.account_id = accounts.account_id AND result_asset_id IS NULL), 0), 0) AS
    stored_bytes, COALESCE(accounts.record_bytes, 0) AS record_bytes, COALESCE((SELECT neurons *
        0.000011 + frames * 0.0005 + converted_seconds * 0.000023 + images * 0.0005 +
        dimensions_queried * 1e-8 + rows_read * 1e-9 + rows_written * 0.000001 + object_requests *
        1.5e-7 + bucket_reads * 3.6e-7 + bucket_writes * 0.0000045 + requests * 3e-7 +
        queue_operations * 4e-7 FROM usage WHERE usage.account_id = accounts.account_id AND date =
        date('now')), 0) AS cost_usd_per_day
  FROM accounts
  WHERE account_id = ?;

-- store/d1/uploads.ts listParts, in D1
SELECT number AS partNumber, etag
  FROM upload_parts
  WHERE upload_id = ?
  ORDER BY number;

-- store/d1/uploads.ts lockUpload, in D1
UPDATE uploads
  SET token = ?, length = COALESCE(length, ?)
  WHERE upload_id = ?
  AND received = ?
  AND sha256 IS NULL
  AND removed_at IS NULL
  AND (length IS NOT NULL OR ? IS NULL OR EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND
        COALESCE(COALESCE((SELECT SUM(size_bytes) FROM tallies WHERE tallies.account_id =
              accounts.account_id AND true), 0) + object_bytes + COALESCE((SELECT
              SUM(MAX(COALESCE(length, 0), received, stored_bytes)) FROM uploads WHERE
              uploads.account_id = accounts.account_id AND result_asset_id IS NULL), 0), 0) + ? <=
        COALESCE(limits ->> '$.stored_bytes', ?)));

-- store/d1/uploads.ts setUploadResult, in D1
UPDATE uploads
  SET result_asset_id = ?
  WHERE upload_id = ?
  AND removed_at IS NULL;
DELETE
  FROM upload_parts
  WHERE upload_id = ?;

-- store/d1/usage.ts addUsage, in D1
INSERT INTO usage (account_id, date, searches)
  VALUES (?, date('now'), ?)
  ON CONFLICT DO UPDATE
  SET searches = searches + excluded.searches;

-- store/d1/usage.ts listUsage, in D1
SELECT date, ingested_ms AS ingestedMs, ingested_images AS ingestedImages, stored_bytes AS
    storedBytes, stored_segments AS storedSegments, searches AS searches, answers AS answers,
    model_calls AS modelCalls, input_tokens AS inputTokens, output_tokens AS outputTokens,
    audio_seconds AS audioSeconds, neurons AS neurons, frames AS frames, images AS images,
    converted_seconds AS convertedSeconds, dimensions_queried AS dimensionsQueried, vectors_written
    AS vectorsWritten, rows_read AS rowsRead, rows_written AS rowsWritten, object_requests AS
    objectRequests, bucket_reads AS bucketReads, bucket_writes AS bucketWrites, requests AS
    requests, queue_operations AS queueOperations
  FROM usage
  WHERE account_id = ?
  AND date >= ?
  ORDER BY date DESC;

-- store/d1/usage.ts recordStored, in D1
INSERT INTO usage (account_id, date, stored_bytes, stored_segments)
  SELECT account_id, date('now'), SUM(size_bytes) AS bytes, SUM(segments) AS segments
  FROM tallies
  GROUP BY account_id
  HAVING bytes > 0
  ON CONFLICT DO UPDATE
  SET stored_bytes = excluded.stored_bytes, stored_segments = excluded.stored_segments
  WHERE (stored_bytes, stored_segments) IS NOT (excluded.stored_bytes, excluded.stored_segments);

-- store/d1/watches.ts deleteWatch, in D1
DELETE
  FROM watches
  WHERE watch_id = ?;

-- store/d1/watches.ts insertWatch, in D1
SELECT COUNT(*) AS count
  FROM watches
  WHERE index_id = ?;
INSERT INTO watches (watch_id, account_id, index_id, name, request, min_probability, webhook_url,
      paused, image, vectors, nearest, created_at, updated_at)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?
  WHERE (SELECT COUNT(*) AS count FROM watches WHERE index_id = ?) < ?
  AND EXISTS (SELECT 1 FROM accounts WHERE account_id = ? AND COALESCE(accounts.record_bytes, 0) + ?
      <= COALESCE(limits ->> '$.record_bytes', ?));

-- store/d1/watches.ts isWatched, in D1
SELECT 1
  FROM watches
  WHERE index_id = ?
  AND paused = 0
  AND created_at <= ?
  LIMIT 1;

-- store/d1/watches.ts listWatches, in D1
SELECT watch_id AS watchId, account_id AS accountId, index_id AS indexId, name, request,
    min_probability AS minProbability, webhook_url AS webhookUrl, paused, created_at AS createdAt,
    updated_at AS updatedAt
  FROM watches
  WHERE index_id = ?
  AND watch_id > ?
  ORDER BY watch_id
  LIMIT ?;
SELECT COUNT(*) AS total
  FROM watches
  WHERE index_id = ?;

-- store/d1/watches.ts listWatchesById, in D1
SELECT watch_id AS watchId, watches.name, webhook_url AS webhookUrl, indices.name AS indexName
  FROM watches
  JOIN indices USING (index_id)
  WHERE index_id = ?
  AND watch_id IN (SELECT value FROM json_each(?));

-- store/d1/watches.ts listWatchesFor, in D1
SELECT watch_id AS watchId, account_id AS accountId, index_id AS indexId, name, request,
    min_probability AS minProbability, webhook_url AS webhookUrl, paused, created_at AS createdAt,
    updated_at AS updatedAt, image, vectors, nearest
  FROM watches
  WHERE index_id = ?
  AND paused = 0
  AND created_at <= ?
  ORDER BY watch_id;

-- store/d1/watches.ts putNearest, in D1
UPDATE watches
  SET nearest = value ->> 2
  FROM json_each(?)
  WHERE watch_id = value ->> 0
  AND updated_at = value ->> 1;

-- store/d1/watches.ts putWatchVectors, in D1
UPDATE watches
  SET vectors = ?, nearest = NULL
  WHERE watch_id = ?
  AND updated_at = ?;

-- store/d1/watches.ts requireWatch, in D1
SELECT watch_id AS watchId, account_id AS accountId, index_id AS indexId, name, request,
    min_probability AS minProbability, webhook_url AS webhookUrl, paused, created_at AS createdAt,
    updated_at AS updatedAt, image, vectors, nearest
  FROM watches
  WHERE watch_id = ?
  AND index_id = ?;

-- store/d1/watches.ts updateWatch, in D1
UPDATE watches
  SET name = COALESCE(?, name), request = COALESCE(?, request), vectors = COALESCE(?, vectors),
    min_probability = COALESCE(?, min_probability), webhook_url = ?, nearest = NULL, paused =
    COALESCE(?, paused), updated_at = ?
  WHERE watch_id = ?
  AND (? IS NULL OR request = ?)
  AND (? <= 0 + length(CAST(name AS BLOB)) + length(CAST(request AS BLOB)) +
      length(CAST(COALESCE(webhook_url, '') AS BLOB)) OR EXISTS (SELECT 1 FROM accounts WHERE
        account_id = ? AND COALESCE(accounts.record_bytes, 0) + ? <= COALESCE(limits ->>
          '$.record_bytes', ?)));

-- store/deletions.ts deleteAssetRows, in D1
DELETE
  FROM transcripts
  WHERE asset_id IN (SELECT value FROM json_each(?));
DELETE
  FROM assets
  WHERE asset_id IN (SELECT value FROM json_each(?));

-- store/deletions.ts isAssetLive, in D1
SELECT 1 AS live
  FROM assets
  WHERE asset_id = ?
  AND deleted_at IS NULL;

-- store/deletions.ts listContentRefs, in D1
SELECT account_id AS accountId, index_id AS indexId, asset_id AS assetId, shard, vector_pair AS
    vectorPair
  FROM assets
  JOIN shards USING (index_id, shard)
  WHERE index_id = ?
  ORDER BY asset_id
  LIMIT ?;

-- store/deletions.ts softDeleteAssets, in D1
UPDATE assets
  SET deleted_at = ?
  WHERE asset_id IN (SELECT value FROM json_each(?))
  AND deleted_at IS NULL;

-- store/fill.ts listFillHistory, in D1
SELECT resource, vector_pair AS vectorPair, date, used
  FROM fill_history
  ORDER BY resource, vector_pair, date;

-- store/fill.ts listFills, in D1
SELECT COALESCE(MAX(database_bytes), 0) AS used
  FROM shards;
SELECT vector_pair AS vectorPair, vector_count AS vectors, shard_count AS shards
  FROM vector_pairs
  ORDER BY vector_pair;

-- store/fill.ts recordFills, in D1
INSERT OR IGNORE INTO fill_history (resource, vector_pair, date, used)
  SELECT value ->> 'resource', value ->> 'vectorPair', ?, value ->> 'used'
  FROM json_each(?);
DELETE
  FROM fill_history
  WHERE date <= date(?, ?);

-- store/health.ts listSegmentHealth, in IndexDatabase
SELECT DISTINCT job_id AS jobId
  FROM unembedded_speech
  JOIN segments USING (segment_key)
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?);

-- store/health.ts listSegmentHealth, in D1
SELECT job_id AS jobId
  FROM jobs
  WHERE job_id IN (SELECT value FROM json_each(?))
  AND (state IN ('queued', 'running') OR (state = 'cancelled' AND updated_at > ?));

-- store/health.ts listSegmentHealth, in IndexDatabase
SELECT segment_id AS segmentId, position, keyframe_ms AS keyframeMs, IIF(length(boxes) > 250000,
      '[]', boxes) AS boxes, caption <> '' AS caption, transcript <> '' AS speech, on_screen_text <>
    '' AS text, error IS NULL AS described, described_at IS NOT NULL AS isFinal,
    (segments.keyframe_ms >= 0 AND (segments.error IS NULL OR EXISTS ( SELECT 1 FROM signatures
          WHERE signatures.segment_key = segments.segment_key AND signatures.frame_ms IS NULL ))) AS
    hasKeyframe, indexed
  AND EXISTS (SELECT 1 FROM segment_fts_docsize WHERE id = segment_key) AS indexed, EXISTS ( SELECT
      1 FROM signatures WHERE signatures.segment_key = segments.segment_key AND frame_ms IS NULL )
    AS hasSignature, EXISTS ( SELECT 1 FROM unembedded_speech WHERE unembedded_speech.segment_key =
      segments.segment_key AND job_id IN (SELECT value FROM json_each(?)) ) AS unembedded,
    text_model AS textModel, image_model AS imageModel, vectors_at AS vectorsAt
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  AND position > ?
  ORDER BY position;

-- store/health.ts recordRestart, in D1
UPDATE assets
  SET restarted_at = ?
  WHERE asset_id = ?;

-- store/health.ts reindexFullText, in IndexDatabase
UPDATE segments
  SET indexed = 0
  WHERE segment_id IN (SELECT value FROM json_each(?));
DELETE
  FROM segment_fts
  WHERE rowid = ?;
INSERT INTO segment_fts (rowid, caption, transcript, on_screen_text, labels)
  VALUES (?, ?, ?, ?, ?);
UPDATE segments
  SET indexed = 1
  WHERE segment_key = ?;

-- store/health.ts wasRestarted, in D1
SELECT restarted_at AS restartedAt
  FROM assets
  WHERE asset_id = ?;

-- store/index-database/archived-rows.ts insertArchivedSegments, in IndexDatabase
INSERT OR IGNORE INTO assets (asset_id, asset_type)
  VALUES (?, ?);
INSERT INTO segments (segment_id, asset_key, position, start_ms, end_ms, keyframe_ms, caption,
      caption_model, transcript, on_screen_text, labels, boxes, error, text_model, image_model,
      described_at, indexed, vectors)
  SELECT value ->> 'segment_id', asset_key, value ->> 'position', value ->> 'start_ms', value ->>
    'end_ms', value ->> 'keyframe_ms', value ->> 'caption', value ->> 'caption_model', value ->>
    'transcript', value ->> 'on_screen_text', value -> 'labels', value -> 'boxes', NULLIF(value ->
      'error', 'null'), value ->> 'text_model', value ->> 'image_model', ?, 0, IIF(COALESCE(value
        ->> 'text_model', value ->> 'image_model') IS NULL, 0, ?)
  FROM assets, json_each(?)
  WHERE asset_id = ?
  AND deleted_at IS NULL
  ON CONFLICT (segment_id) DO UPDATE
  SET caption = excluded.caption, caption_model = excluded.caption_model, transcript =
    excluded.transcript, on_screen_text = excluded.on_screen_text, labels = excluded.labels, boxes =
    excluded.boxes, error = excluded.error, text_model = excluded.text_model, image_model =
    excluded.image_model, described_at = excluded.described_at, indexed = 0
  WHERE described_at IS NULL;

-- store/index-database/find-segments.ts countFrequencies, in IndexDatabase
SELECT (SELECT COALESCE(SUM(segments), 0) FROM segment_counts) AS total, (SELECT
      json_group_array(value) FROM json_each(?) WHERE EXISTS ( SELECT 1 FROM segment_fts_vocab WHERE
        term >= value AND term < value || char(1114111) )) AS prefixes;
SELECT term AS stem, doc AS count
  FROM segment_fts_vocab
  WHERE term IN (SELECT value FROM json_each(?));

-- store/index-database/find-segments.ts findSegments, in IndexDatabase
SELECT segment_id AS segmentId, bm25
  FROM ( SELECT rowid AS segment_key, -bm25(segment_fts) AS bm25 FROM segment_fts WHERE segment_fts
      MATCH ? AND +rowid NOT IN (SELECT segment_key FROM assets JOIN segments USING (asset_key)
        WHERE assets.searchable_at IS NULL OR assets.searchable_at > ?) ORDER BY bm25 DESC LIMIT ? )
  JOIN segments USING (segment_key)
  ORDER BY bm25 DESC;
SELECT asset_key AS assetKey, segment_id AS segmentId, position, start_ms AS startMs, end_ms AS
    endMs, keyframe_ms AS keyframeMs, substr(caption, 1, 20000) AS caption, caption_model AS
    captionModel, substr(transcript, 1, 20000) AS transcript, substr(on_screen_text, 1, 20000) AS
    onScreenText, IIF(length(labels) > 250000, '[]', labels) AS labels, IIF(length(boxes) > 250000,
      '[]', boxes) AS boxes, error, described_at IS NOT NULL AS described, (segments.keyframe_ms >=
      0 AND (segments.error IS NULL OR EXISTS ( SELECT 1 FROM signatures WHERE
          signatures.segment_key = segments.segment_key AND signatures.frame_ms IS NULL ))) AS
    hasKeyframe, ( SELECT substr(hashes, 1, 8) FROM signatures WHERE signatures.segment_key =
      segments.segment_key AND frame_ms IS NULL ) AS keyframeHashes
  FROM segments
  WHERE segment_id IN (SELECT value FROM json_each(?))
  AND segment_key IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ?)
  AND segment_key NOT IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ?);
SELECT asset_key AS assetKey, asset_id AS assetId, asset_type AS assetType, title, metadata,
    technical
  FROM assets
  WHERE asset_key IN (SELECT value FROM json_each(?))
  AND (assets.searchable_at <= ?)
  AND (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value
        FROM json_each(?)));
SELECT segment_id AS segmentId, bm25
  FROM ( SELECT rowid AS segment_key, -bm25(segment_fts) AS bm25 FROM segment_fts WHERE segment_fts
      MATCH ? AND +rowid IN (SELECT segment_key FROM assets JOIN segments USING (asset_key) WHERE
        (assets.searchable_at <= ?) AND (IIF(assets.technical -> '$.has_video' = 'false', 'audio',
            assets.asset_type) IN (SELECT value FROM json_each(?))) AND (EXISTS ( SELECT 1 FROM
            (SELECT assets.created_at AS value, 'real' AS type) AS actual, json_each(?) AS operand
            WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE actual.type END = CASE
            operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND actual.value >
            operand.value)) AND (NOT (EXISTS ( SELECT 1 FROM (SELECT assets.duration_ms / 1000.0 AS
                value, 'real' AS type) AS actual, json_each(?) AS operand WHERE CASE actual.type
              WHEN 'integer' THEN 'real' ELSE actual.type END = CASE operand.type WHEN 'integer'
              THEN 'real' ELSE operand.type END AND actual.value = operand.value))) AND (EXISTS (
            SELECT 1 FROM (SELECT value, type FROM (WITH RECURSIVE member(rest, json) AS ( SELECT ?,
                  assets.metadata UNION ALL SELECT iif(rest = key, NULL, substr(rest, length(key) +
                      2)), CASE WHEN type IN ('object', 'array') THEN value WHEN type IN ('true',
                    'false') THEN type ELSE json_quote(value) END FROM member,
                  json_each(member.json) WHERE json_type(member.json) = 'object' AND (rest = key OR
                    substr(rest, 1, length(key) + 1) = key || '.')) SELECT json AS field FROM member
                WHERE rest IS NULL), json_each(iif(json_type(field) = 'array', field,
                  json_array(json(field))))) AS actual, json_each(?) AS operand WHERE CASE
            actual.type WHEN 'integer' THEN 'real' ELSE actual.type END = CASE operand.type WHEN
            'integer' THEN 'real' ELSE operand.type END AND actual.value = operand.value) OR NOT
          EXISTS (SELECT 1 FROM (SELECT value, type FROM (WITH RECURSIVE member(rest, json) AS (
                  SELECT ?, assets.metadata UNION ALL SELECT iif(rest = key, NULL, substr(rest,
                      length(key) + 2)), CASE WHEN type IN ('object', 'array') THEN value WHEN type
                  IN ('true', 'false') THEN type ELSE json_quote(value) END FROM member,
                  json_each(member.json) WHERE json_type(member.json) = 'object' AND (rest = key OR
                    substr(rest, 1, length(key) + 1) = key || '.')) SELECT json AS field FROM member
                WHERE rest IS NULL), json_each(iif(json_type(field) = 'array', field,
                  json_array(json(field))))) WHERE type <> 'null')) AND (EXISTS ( SELECT 1 FROM
            (SELECT value, type FROM (SELECT assets.metadata -> ? AS field),
              json_each(iif(json_type(field) = 'array', field, json_array(json(field))))) AS actual,
            json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE
            actual.type END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND
            actual.value = operand.value)) AND (assets.asset_id IN (SELECT value FROM json_each(?)))
        AND (assets.asset_id <> ?)) ORDER BY bm25 DESC LIMIT ? )
  JOIN segments USING (segment_key)
  ORDER BY bm25 DESC;
SELECT asset_key AS assetKey, asset_id AS assetId, asset_type AS assetType, title, metadata,
    technical
  FROM assets
  WHERE asset_key IN (SELECT value FROM json_each(?))
  AND (assets.searchable_at <= ?)
  AND (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value
        FROM json_each(?)))
  AND (EXISTS ( SELECT 1 FROM (SELECT assets.created_at AS value, 'real' AS type) AS actual,
        json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE actual.type
        END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND actual.value >
        operand.value))
  AND (NOT (EXISTS ( SELECT 1 FROM (SELECT assets.duration_ms / 1000.0 AS value, 'real' AS type) AS
          actual, json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE
          actual.type END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND
          actual.value = operand.value)))
  AND (EXISTS ( SELECT 1 FROM (SELECT value, type FROM (WITH RECURSIVE member(rest, json) AS (
              SELECT ?, assets.metadata UNION ALL SELECT iif(rest = key, NULL, substr(rest,
                  length(key) + 2)), CASE WHEN type IN ('object', 'array') THEN value WHEN type IN
              ('true', 'false') THEN type ELSE json_quote(value) END FROM member,
              json_each(member.json) WHERE json_type(member.json) = 'object' AND (rest = key OR
                substr(rest, 1, length(key) + 1) = key || '.')) SELECT json AS field FROM member
            WHERE rest IS NULL), json_each(iif(json_type(field) = 'array', field,
              json_array(json(field))))) AS actual, json_each(?) AS operand WHERE CASE actual.type
        WHEN 'integer' THEN 'real' ELSE actual.type END = CASE operand.type WHEN 'integer' THEN
        'real' ELSE operand.type END AND actual.value = operand.value) OR NOT EXISTS (SELECT 1 FROM
        (SELECT value, type FROM (WITH RECURSIVE member(rest, json) AS ( SELECT ?, assets.metadata
              UNION ALL SELECT iif(rest = key, NULL, substr(rest, length(key) + 2)), CASE WHEN type
              IN ('object', 'array') THEN value WHEN type IN ('true', 'false') THEN type ELSE
              json_quote(value) END FROM member, json_each(member.json) WHERE json_type(member.json)
              = 'object' AND (rest = key OR substr(rest, 1, length(key) + 1) = key || '.')) SELECT
            json AS field FROM member WHERE rest IS NULL), json_each(iif(json_type(field) = 'array',
              field, json_array(json(field))))) WHERE type <> 'null'))
  AND (EXISTS ( SELECT 1 FROM (SELECT value, type FROM (SELECT assets.metadata -> ? AS field),
          json_each(iif(json_type(field) = 'array', field, json_array(json(field))))) AS actual,
        json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE actual.type
        END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND actual.value =
        operand.value))
  AND (assets.asset_id IN (SELECT value FROM json_each(?)))
  AND (assets.asset_id <> ?);
SELECT segment_id AS segmentId, bm25
  FROM ( SELECT rowid AS segment_key, -bm25(segment_fts) AS bm25 FROM segment_fts WHERE segment_fts
      MATCH ? AND +rowid IN (SELECT segment_key FROM segments WHERE segment_id IN (SELECT value FROM
          json_each(?))) ORDER BY bm25 DESC LIMIT ? )
  JOIN segments USING (segment_key)
  ORDER BY bm25 DESC;

-- store/index-database/find-segments.ts hasSegmentWith, in IndexDatabase
SELECT 1
  FROM segment_fts
  WHERE segment_fts MATCH ?
  LIMIT 1;

-- store/index-database/find-segments.ts listScope, in IndexDatabase
SELECT asset_id AS assetId
  FROM assets
  WHERE (assets.searchable_at <= ?)
  AND (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value
        FROM json_each(?)))
  LIMIT ?;

-- store/index-database/groups.ts countMatches, in IndexDatabase
SELECT COUNT(*) AS count
  FROM segment_fts
  WHERE segment_fts MATCH ?
  AND +rowid NOT IN (SELECT segment_key FROM assets JOIN segments USING (asset_key) WHERE
      assets.searchable_at IS NULL OR assets.searchable_at > ?);

-- store/index-database/groups.ts listGroups, in IndexDatabase
WITH scoped AS ( SELECT asset_key, title, json_array(json_quote(assets.asset_id) || '') AS keys FROM
      assets WHERE (assets.searchable_at <= ?) AND (IIF(assets.technical -> '$.has_video' = 'false',
          'audio', assets.asset_type) IN (SELECT value FROM json_each(?))) ), sizes AS ( SELECT
      asset_key, COUNT(*) AS segments, SUM(COALESCE(end_ms - start_ms, 0)) AS durationMs FROM
      segments WHERE asset_key IN (SELECT asset_key FROM scoped) GROUP BY asset_key ), grouped AS (
      SELECT COALESCE(one.value, 'null') AS key, COALESCE(SUM(segments), 0) AS segments,
      COALESCE(SUM(durationMs), 0) AS durationMs, COUNT(*) AS assets, MAX(title) AS title FROM
      scoped LEFT JOIN sizes USING (asset_key) LEFT JOIN json_each(scoped.keys) AS one GROUP BY 1 )
  SELECT key, segments, durationMs, assets, title, COUNT(*) OVER () AS groupCount, SUM(segments)
    OVER () AS allSegments, SUM(durationMs) OVER () AS allMs, SUM(assets) OVER () AS allAssets
  FROM grouped
  ORDER BY segments DESC, key
  LIMIT ?;
WITH scoped AS ( SELECT asset_key, title, NULL AS keys FROM assets WHERE (assets.searchable_at <= ?)
      AND (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT
          value FROM json_each(?))) ), sizes AS ( SELECT asset_key, COUNT(*) AS segments,
      SUM(COALESCE(end_ms - start_ms, 0)) AS durationMs FROM segments WHERE asset_key IN (SELECT
        asset_key FROM scoped) GROUP BY asset_key )
  SELECT COUNT(*) AS assets, COALESCE(SUM(segments), 0) AS segments, COALESCE(SUM(durationMs), 0) AS
    durationMs
  FROM scoped
  LEFT
  JOIN sizes USING (asset_key);
WITH scoped AS ( SELECT asset_key, title, json_array(json_quote(assets.asset_type) || '') AS keys
      FROM assets WHERE (assets.searchable_at <= ?) AND (IIF(assets.technical -> '$.has_video' =
          'false', 'audio', assets.asset_type) IN (SELECT value FROM json_each(?))) ), sizes AS (
      SELECT asset_key, COUNT(*) AS segments, SUM(COALESCE(end_ms - start_ms, 0)) AS durationMs FROM
      segments WHERE asset_key IN (SELECT asset_key FROM scoped) GROUP BY asset_key ), grouped AS (
      SELECT COALESCE(one.value, 'null') AS key, COALESCE(SUM(segments), 0) AS segments,
      COALESCE(SUM(durationMs), 0) AS durationMs, COUNT(*) AS assets, NULL AS title FROM scoped LEFT
      JOIN sizes USING (asset_key) LEFT JOIN json_each(scoped.keys) AS one GROUP BY 1 )
  SELECT key, segments, durationMs, assets, title, COUNT(*) OVER () AS groupCount, SUM(segments)
    OVER () AS allSegments, SUM(durationMs) OVER () AS allMs, SUM(assets) OVER () AS allAssets
  FROM grouped
  ORDER BY segments DESC, key
  LIMIT ?;
WITH labelled AS ( SELECT DISTINCT segment_key, asset_key, COALESCE(end_ms - start_ms, 0) AS
      durationMs, (CASE one.type WHEN 'text' THEN json_quote(substr(one.value, 1, ?)) WHEN 'true'
        THEN 'true' WHEN 'false' THEN 'false' ELSE COALESCE(json_quote(one.value), 'null') END ||
        '') AS key FROM segments LEFT JOIN json_each(segments.labels) AS one WHERE asset_key IN
      (SELECT asset_key FROM assets WHERE (assets.searchable_at <= ?) AND (IIF(assets.technical ->
            '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value FROM
            json_each(?)))) ), grouped AS ( SELECT key, COUNT(*) AS segments, SUM(durationMs) AS
      durationMs, COUNT(DISTINCT asset_key) AS assets, NULL AS title FROM labelled GROUP BY key )
  SELECT key, segments, durationMs, assets, title, COUNT(*) OVER () AS groupCount, SUM(segments)
    OVER () AS allSegments, SUM(durationMs) OVER () AS allMs, SUM(assets) OVER () AS allAssets
  FROM grouped
  ORDER BY segments DESC, key
  LIMIT ?;
WITH scoped AS ( SELECT asset_key, title, IIF(assets.technical ->> '$.taken_at' IS NULL, '[]',
        json_array('"' || substr(assets.technical ->> '$.taken_at', 1, ?) || '"')) AS keys FROM
      assets WHERE (assets.searchable_at <= ?) AND (IIF(assets.technical -> '$.has_video' = 'false',
          'audio', assets.asset_type) IN (SELECT value FROM json_each(?))) ), sizes AS ( SELECT
      asset_key, COUNT(*) AS segments, SUM(COALESCE(end_ms - start_ms, 0)) AS durationMs FROM
      segments WHERE asset_key IN (SELECT asset_key FROM scoped) GROUP BY asset_key ), grouped AS (
      SELECT COALESCE(one.value, 'null') AS key, COALESCE(SUM(segments), 0) AS segments,
      COALESCE(SUM(durationMs), 0) AS durationMs, COUNT(*) AS assets, NULL AS title FROM scoped LEFT
      JOIN sizes USING (asset_key) LEFT JOIN json_each(scoped.keys) AS one GROUP BY 1 )
  SELECT key, segments, durationMs, assets, title, COUNT(*) OVER () AS groupCount, SUM(segments)
    OVER () AS allSegments, SUM(durationMs) OVER () AS allMs, SUM(assets) OVER () AS allAssets
  FROM grouped
  ORDER BY segments DESC, key
  LIMIT ?;
WITH scoped AS ( SELECT asset_key, title, (SELECT json_group_array(DISTINCT (CASE type WHEN 'text'
            THEN json_quote(substr(value, 1, ?)) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
            ELSE COALESCE(json_quote(value), 'null') END || '')) FROM (SELECT value, type FROM
          (SELECT assets.metadata -> ? AS field), json_each(iif(json_type(field) = 'array', field,
              json_array(json(field))))) WHERE type IN ('text', 'integer', 'real', 'true', 'false'))
      AS keys FROM assets WHERE (assets.searchable_at <= ?) AND (IIF(assets.technical ->
          '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value FROM json_each(?)))
      ), sizes AS ( SELECT asset_key, COUNT(*) AS segments, SUM(COALESCE(end_ms - start_ms, 0)) AS
      durationMs FROM segments WHERE asset_key IN (SELECT asset_key FROM scoped) GROUP BY asset_key
      ), grouped AS ( SELECT COALESCE(one.value, 'null') AS key, COALESCE(SUM(segments), 0) AS
      segments, COALESCE(SUM(durationMs), 0) AS durationMs, COUNT(*) AS assets, NULL AS title FROM
      scoped LEFT JOIN sizes USING (asset_key) LEFT JOIN json_each(scoped.keys) AS one GROUP BY 1 )
  SELECT key, segments, durationMs, assets, title, COUNT(*) OVER () AS groupCount, SUM(segments)
    OVER () AS allSegments, SUM(durationMs) OVER () AS allMs, SUM(assets) OVER () AS allAssets
  FROM grouped
  ORDER BY segments DESC, key
  LIMIT ?;

-- store/index-database/judgments.ts deleteJudgment, in IndexDatabase
DELETE
  FROM judgments
  WHERE query_key = ?
  AND segment_key = (SELECT segment_key FROM segments WHERE segment_id = ?);

-- store/index-database/judgments.ts listJudgments, in IndexDatabase
SELECT COUNT(*) AS count
  FROM judgments
  JOIN segments USING (segment_key)
  JOIN assets USING (asset_key)
  WHERE deleted_at IS NULL;
SELECT judgment_id AS judgmentId, segment_id AS segmentId, query, query_key AS queryKey, search_id
    AS searchId, relevant AS isRelevant, log_odds AS logOdds, evidence_kind AS evidenceKind,
    calibration_tag AS calibrationTag, judged_at AS judgedAt
  FROM judgments
  JOIN segments USING (segment_key)
  JOIN assets USING (asset_key)
  WHERE deleted_at IS NULL
  AND judgment_id > ?
  ORDER BY judgment_id
  LIMIT ?;

-- store/index-database/judgments.ts listScoredJudgments, in IndexDatabase
SELECT query_key AS queryKey, relevant AS isRelevant, log_odds AS logOdds, evidence_kind AS
    evidenceKind, calibration_tag AS calibrationTag, judged_at AS judgedAt
  FROM judgments
  JOIN segments USING (segment_key)
  JOIN assets USING (asset_key)
  WHERE deleted_at IS NULL
  ORDER BY judged_at DESC, judgment_id DESC
  LIMIT ?;

-- store/index-database/judgments.ts putJudgment, in IndexDatabase
INSERT INTO judgments (judgment_id, segment_key, query, query_key, search_id, relevant, log_odds,
      evidence_kind, calibration_tag, judged_at)
  SELECT ?, segment_key, ?, ?, ?, ?, ?, ?, ?, ?
  FROM segments
  JOIN assets USING (asset_key)
  WHERE segment_id = ?
  AND deleted_at IS NULL
  AND ((SELECT COUNT(*) FROM judgments) < ? OR EXISTS ( SELECT 1 FROM judgments AS earlier WHERE
        earlier.segment_key = segments.segment_key AND earlier.query_key = ? ))
  ON CONFLICT (segment_key, query_key) DO UPDATE
  SET query = excluded.query, relevant = excluded.relevant, log_odds = excluded.log_odds,
    evidence_kind = excluded.evidence_kind, calibration_tag = excluded.calibration_tag, judged_at =
    excluded.judged_at
  RETURNING judgment_id AS judgmentId;

-- store/index-database/matches.ts countMatches, in IndexDatabase
SELECT watch_id AS watchId, COUNT(*) AS count
  FROM matches
  WHERE watch_id IN (SELECT value FROM json_each(?))
  GROUP BY watch_id;

-- store/index-database/matches.ts countWithText, in IndexDatabase
SELECT COUNT(*) AS count
  FROM segments
  WHERE segment_id IN (SELECT value FROM json_each(?))
  AND (transcript <> '' OR on_screen_text <> '' OR caption <> '' AND caption_model IS NOT ?);

-- store/index-database/matches.ts deleteMatches, in IndexDatabase
DELETE
  FROM matches
  WHERE watch_id = ?;
DELETE
  FROM new_matches
  WHERE watch_id = ?;

-- store/index-database/matches.ts findScopesOf, in IndexDatabase
SELECT asset_id AS assetId
  FROM assets
  WHERE asset_id = ?
  AND deleted_at IS NULL
  AND (true)
  AND (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value
        FROM json_each(?)));

-- store/index-database/matches.ts listMatched, in IndexDatabase
SELECT watch_id AS watchId, segment_id AS segmentId, details -> '$.duplicates' AS duplicates
  FROM matches
  WHERE segment_key IN ( SELECT segment_key FROM segments WHERE asset_key = (SELECT asset_key FROM
        assets WHERE asset_id = ?));

-- store/index-database/matches.ts listMatches, in IndexDatabase
SELECT match_key AS matchKey, watch_id AS watchId, matches.segment_id AS segmentId, asset_id AS
    assetId, asset_type AS assetType, title, start_ms AS startMs, end_ms AS endMs, score, details,
    matched_at AS matchedAt
  FROM matches
  JOIN segments USING (segment_key)
  JOIN assets USING (asset_key)
  WHERE watch_id = ?
  AND (? = '' OR matches.segment_id < ?)
  ORDER BY matches.segment_id DESC
  LIMIT ?;

-- store/index-database/matches.ts listMatchesSince, in IndexDatabase
SELECT match_key AS matchKey, watch_id AS watchId, matches.segment_id AS segmentId, asset_id AS
    assetId, asset_type AS assetType, title, start_ms AS startMs, end_ms AS endMs, score, details,
    matched_at AS matchedAt
  FROM matches
  JOIN segments USING (segment_key)
  JOIN assets USING (asset_key)
  WHERE match_key > ?
  ORDER BY match_key
  LIMIT ?;

-- store/index-database/matches.ts listSegmentsWithHashes, in IndexDatabase
SELECT asset_id AS assetId, segment_id AS segmentId, position, start_ms AS startMs, end_ms AS endMs,
    keyframe_ms AS keyframeMs, substr(caption, 1, 20000) AS caption, caption_model AS captionModel,
    substr(transcript, 1, 20000) AS transcript, substr(on_screen_text, 1, 20000) AS onScreenText,
    IIF(length(labels) > 250000, '[]', labels) AS labels, IIF(length(boxes) > 250000, '[]', boxes)
    AS boxes, error, described_at IS NOT NULL AS described, (segments.keyframe_ms >= 0 AND
      (segments.error IS NULL OR EXISTS ( SELECT 1 FROM signatures WHERE signatures.segment_key =
          segments.segment_key AND signatures.frame_ms IS NULL ))) AS hasKeyframe, ( SELECT
      substr(hashes, 1, 8) FROM signatures WHERE signatures.segment_key = segments.segment_key AND
      frame_ms IS NULL ) AS keyframeHashes
  FROM segments
  JOIN assets USING (asset_key)
  WHERE asset_id = ?
  AND position > ?
  AND (? OR segment_id IN (SELECT value FROM json_each(?)))
  ORDER BY position;

-- store/index-database/matches.ts putMatches, in IndexDatabase
DELETE
  FROM new_matches
  WHERE segment_key IN (SELECT segment_key FROM segments WHERE asset_key = (SELECT asset_key FROM
        assets WHERE asset_id = ?));
INSERT OR REPLACE INTO new_matches
  SELECT segment_key, value ->> 1, value ->> 2, value ->> 3
  FROM json_each(?)
  JOIN segments
  ON segment_id = value ->> 0;
UPDATE assets
  SET searchable_at = searchable_at
  WHERE asset_id = ?
  AND searchable_at IS NOT NULL;

-- store/index-database/new-vectors.ts clearNewVectors, in IndexDatabase
DELETE
  FROM new_vectors
  WHERE segment_key IN (SELECT segment_key FROM segments WHERE asset_key = (SELECT asset_key FROM
        assets WHERE asset_id = ?));

-- store/index-database/new-vectors.ts listNewVectors, in IndexDatabase
SELECT 1
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  AND position >= ?
  LIMIT 1;
SELECT segment_id AS segmentId, kind, "values"
  FROM segments
  JOIN new_vectors USING (segment_key)
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  AND position >= ?
  AND position < ?
  ORDER BY position;

-- store/index-database/new-vectors.ts putNewVectors, in IndexDatabase
DELETE
  FROM new_vectors
  WHERE kind IN (SELECT value FROM json_each(?))
  AND segment_key IN ( SELECT segment_key FROM segments WHERE segment_id IN (SELECT value FROM
        json_each(?)));
INSERT OR REPLACE INTO new_vectors
  SELECT segment_key, column2, column3, column4
  FROM (VALUES (?, ?, ?, ?))
  JOIN segments
  ON segment_id = column1;

-- store/index-database/scope-segments.ts listNewestSegments, in IndexDatabase
SELECT segment_id AS segmentId, searchable_at AS searchableAt
  FROM ( SELECT asset_key, searchable_at FROM assets WHERE (assets.searchable_at <= ?) AND
      (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value
          FROM json_each(?))) ORDER BY searchable_at DESC, asset_key DESC LIMIT ? )
  JOIN segments USING (asset_key)
  WHERE segment_key NOT IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ?)
  ORDER BY searchable_at DESC, asset_key DESC, position
  LIMIT ?;
SELECT segment_id AS segmentId, searchable_at AS searchableAt
  FROM ( SELECT asset_key, searchable_at FROM assets WHERE (assets.searchable_at <= ?) AND
      (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT value
          FROM json_each(?))) ORDER BY searchable_at DESC, asset_key DESC LIMIT ? )
  JOIN segments USING (asset_key)
  WHERE true
  ORDER BY searchable_at DESC, asset_key DESC, position
  LIMIT ?;

-- store/index-database/scope-segments.ts listSegmentTimes, in IndexDatabase
SELECT DISTINCT segment_id AS segmentId, asset_id AS assetId, start_ms AS startMs, end_ms AS endMs
  FROM json_each(?)
  JOIN assets
  ON asset_id = value ->> 'assetId'
  AND deleted_at IS NULL
  JOIN segments USING (asset_key)
  WHERE start_ms <= value ->> 'endMs'
  AND end_ms >= value ->> 'startMs';

-- store/index-database/segment-transcripts.ts updateTranscripts, in IndexDatabase
UPDATE segments
  SET transcript = value ->> 'transcript'
  FROM json_each(?)
  WHERE segment_id = value ->> 'segmentId'
  AND +asset_key = (SELECT asset_key FROM assets WHERE asset_id = ? AND transcript_revision <= ?);

-- store/index-database/segments.ts deleteSegments, in IndexDatabase
DELETE
  FROM segments
  WHERE segment_id IN (SELECT value FROM json_each(?));
DELETE
  FROM signature_hashes
  WHERE signature_key = ?
  AND hash IN (SELECT value FROM json_each(?));

-- store/index-database/segments.ts listKnownSegments, in IndexDatabase
SELECT segment_id AS segmentId
  FROM segments
  JOIN assets USING (asset_key)
  WHERE segment_id IN (SELECT value FROM json_each(?))
  AND deleted_at IS NULL;

-- store/index-database/segments.ts listSegmentIds, in IndexDatabase
SELECT segment_id AS segmentId
  FROM segments
  JOIN assets USING (asset_key)
  WHERE asset_key IN ( SELECT asset_key FROM assets WHERE asset_id = ? UNION ALL SELECT asset_key
      FROM segments WHERE segment_id = ? )
  AND ? IN (asset_id, segment_id)
  AND deleted_at IS NULL
  ORDER BY position;

-- store/index-database/segments.ts listSegmentIdsOf, in IndexDatabase
SELECT segment_id AS segmentId
  FROM segments
  WHERE asset_key IN (SELECT asset_key FROM assets WHERE asset_id IN (SELECT value FROM
        json_each(?)))
  LIMIT ?;

-- store/index-database/segments.ts listSegments, in IndexDatabase
SELECT asset_id AS assetId, segment_id AS segmentId, position, start_ms AS startMs, end_ms AS endMs,
    keyframe_ms AS keyframeMs, substr(caption, 1, 20000) AS caption, caption_model AS captionModel,
    substr(transcript, 1, 20000) AS transcript, substr(on_screen_text, 1, 20000) AS onScreenText,
    IIF(length(labels) > 250000, '[]', labels) AS labels, IIF(length(boxes) > 250000, '[]', boxes)
    AS boxes, error, described_at IS NOT NULL AS described, (segments.keyframe_ms >= 0 AND
      (segments.error IS NULL OR EXISTS ( SELECT 1 FROM signatures WHERE signatures.segment_key =
          segments.segment_key AND signatures.frame_ms IS NULL ))) AS hasKeyframe
  FROM segments
  JOIN assets USING (asset_key)
  WHERE asset_id = ?
  AND position > ?
  AND position >= ?
  AND position < ?
  ORDER BY position;

-- store/index-database/segments.ts listSegmentsAt, in IndexDatabase
SELECT segment_id AS segmentId, (SELECT MAX(end_ms) FROM segments WHERE asset_key = (SELECT
        asset_key FROM assets WHERE asset_id = ?)) AS assetEndMs
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  AND start_ms < ?
  AND end_ms > ?
  ORDER BY MIN(end_ms, ?) - MAX(start_ms, ?) DESC, position
  LIMIT 1;

-- store/index-database/segments.ts listSegmentsById, in IndexDatabase
SELECT asset_id AS assetId, segment_id AS segmentId, position, start_ms AS startMs, end_ms AS endMs,
    keyframe_ms AS keyframeMs, substr(caption, 1, 20000) AS caption, caption_model AS captionModel,
    substr(transcript, 1, 20000) AS transcript, substr(on_screen_text, 1, 20000) AS onScreenText,
    IIF(length(labels) > 250000, '[]', labels) AS labels, IIF(length(boxes) > 250000, '[]', boxes)
    AS boxes, error, described_at IS NOT NULL AS described, (segments.keyframe_ms >= 0 AND
      (segments.error IS NULL OR EXISTS ( SELECT 1 FROM signatures WHERE signatures.segment_key =
          segments.segment_key AND signatures.frame_ms IS NULL ))) AS hasKeyframe
  FROM segments
  JOIN assets USING (asset_key)
  WHERE asset_id = ?
  AND position > ?
  AND segment_id IN (SELECT value FROM json_each(?))
  ORDER BY position;

-- store/index-database/segments.ts listSegmentsWithin, in IndexDatabase
SELECT asset_id AS assetId, segment_id AS segmentId, position, start_ms AS startMs, end_ms AS endMs,
    keyframe_ms AS keyframeMs, substr(caption, 1, 20000) AS caption, caption_model AS captionModel,
    substr(transcript, 1, 20000) AS transcript, substr(on_screen_text, 1, 20000) AS onScreenText,
    IIF(length(labels) > 250000, '[]', labels) AS labels, IIF(length(boxes) > 250000, '[]', boxes)
    AS boxes, error, described_at IS NOT NULL AS described, (segments.keyframe_ms >= 0 AND
      (segments.error IS NULL OR EXISTS ( SELECT 1 FROM signatures WHERE signatures.segment_key =
          segments.segment_key AND signatures.frame_ms IS NULL ))) AS hasKeyframe
  FROM segments
  JOIN assets USING (asset_key)
  WHERE asset_id = ?
  AND position > ?
  AND end_ms > ?
  AND start_ms < ?
  ORDER BY position;

-- store/index-database/segments.ts pageSegments, in IndexDatabase
SELECT asset_id AS assetId, segment_id AS segmentId, position, start_ms AS startMs, end_ms AS endMs,
    keyframe_ms AS keyframeMs, substr(caption, 1, 20000) AS caption, caption_model AS captionModel,
    substr(transcript, 1, 20000) AS transcript, substr(on_screen_text, 1, 20000) AS onScreenText,
    IIF(length(labels) > 250000, '[]', labels) AS labels, IIF(length(boxes) > 250000, '[]', boxes)
    AS boxes, error, described_at IS NOT NULL AS described, (segments.keyframe_ms >= 0 AND
      (segments.error IS NULL OR EXISTS ( SELECT 1 FROM signatures WHERE signatures.segment_key =
          segments.segment_key AND signatures.frame_ms IS NULL ))) AS hasKeyframe
  FROM segments
  JOIN assets USING (asset_key)
  WHERE asset_id = ?
  AND position > COALESCE( (SELECT position FROM segments WHERE asset_key = (SELECT asset_key FROM
          assets WHERE asset_id = ?) AND segment_id = ?), -1 )
  ORDER BY position
  LIMIT ?;
SELECT COUNT(*) AS total
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?);

-- store/index-database/segments.ts summarizeSegments, in IndexDatabase
SELECT COUNT(*) AS total, COUNT(*) FILTER (WHERE (segments.keyframe_ms >= 0 AND (segments.error IS
          NULL OR EXISTS ( SELECT 1 FROM signatures WHERE signatures.segment_key =
            segments.segment_key AND signatures.frame_ms IS NULL ))) OR transcript <> '') AS usable,
    MIN(keyframe_ms) FILTER (WHERE (segments.keyframe_ms >= 0 AND (segments.error IS NULL OR EXISTS
          ( SELECT 1 FROM signatures WHERE signatures.segment_key = segments.segment_key AND
            signatures.frame_ms IS NULL )))) AS keyframeMs
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?);
SELECT error ->> 'code' AS code, COUNT(*) AS count, MIN(error ->> 'message') AS first
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  AND error IS NOT NULL
  GROUP BY 1;

-- store/index-database/segments.ts updateDescription, in IndexDatabase
UPDATE segments
  SET caption = ?, caption_model = ?, on_screen_text = ?, labels = ?, boxes = ?, error = ?,
    described_at = ?
  WHERE segment_id = ?;

-- store/index-database/segments.ts upsertSegments, in IndexDatabase
INSERT INTO segments (segment_id, asset_key, position, start_ms, end_ms, keyframe_ms, described_at,
      vectors)
  SELECT value ->> 'segmentId', asset_key, value ->> 'position', value ->> 'startMs', value ->>
    'endMs', value ->> 'keyframeMs', IIF(value ->> 'keyframeMs' < 0, ?, NULL), 0
  FROM assets, json_each(?)
  WHERE asset_id = ?
  AND deleted_at IS NULL
  ON CONFLICT (segment_id) DO UPDATE
  SET error = NULL, described_at = (CASE WHEN error IS NULL THEN described_at END);

-- store/index-database/signatures.ts findSignatures, in IndexDatabase
SELECT segment_id AS segmentId, asset_id AS assetId, luma_thumbnail AS lumaThumbnail, (CASE WHEN
      start_ms IS NOT NULL THEN COALESCE(frame_ms, keyframe_ms) END) AS ms
  FROM ( SELECT signature_key, COUNT(*) AS shared FROM ( SELECT signature_key FROM json_each(?) AS
        query_hashes CROSS JOIN signature_hashes ON signature_hashes.hash = query_hashes.value LIMIT
        ? ) GROUP BY signature_key ORDER BY shared DESC, signature_key LIMIT ? )
  JOIN signatures USING (signature_key)
  JOIN segments USING (segment_key)
  JOIN assets USING (asset_key);

-- store/index-database/signatures.ts putFrameSignatures, in IndexDatabase
DELETE
  FROM signatures
  WHERE frame_ms IS NOT NULL
  AND segment_key IN ( SELECT segment_key FROM segments WHERE segment_id IN (SELECT value FROM
        json_each(?)) );
INSERT INTO signatures (segment_key, frame_ms, hashes, luma_thumbnail)
  SELECT segment_key, value ->> 'ms', unhex(value ->> 'hashesHex'), unhex(value ->> 'thumbnailHex')
  FROM json_each(?)
  CROSS
  JOIN segments
  ON segment_id = value ->> 'segmentId';

-- store/index-database/signatures.ts putSignature, in IndexDatabase
DELETE
  FROM signatures
  WHERE frame_ms IS NULL
  AND segment_key = (SELECT segment_key FROM segments WHERE segment_id = ?);
INSERT INTO signatures (segment_key, hashes, luma_thumbnail)
  SELECT segment_key, ?, ?
  FROM segments
  WHERE segment_id = ?;

-- store/index-database/written-vectors.ts listWrittenVectors, in IndexDatabase
SELECT segment_id AS segmentId, vectors
  FROM segments
  WHERE segment_id IN (SELECT value FROM json_each(?));

-- store/index-database/written-vectors.ts recordVectors, in IndexDatabase
UPDATE segments
  SET vectors = vectors | (value ->> 'bits'), vectors_at = ?
  FROM json_each(?)
  WHERE segment_id = value ->> 'segmentId';

-- store/index-database/written-vectors.ts setImageModel, in IndexDatabase
UPDATE segments
  SET image_model = (CASE WHEN (segments.keyframe_ms >= 0 AND (segments.error IS NULL OR EXISTS (
            SELECT 1 FROM signatures WHERE signatures.segment_key = segments.segment_key AND
            signatures.frame_ms IS NULL ))) THEN ? END)
  WHERE segment_id IN (SELECT value FROM json_each(?));

-- store/index-database/written-vectors.ts setTextModel, in IndexDatabase
UPDATE segments
  SET text_model = (CASE WHEN caption || transcript || on_screen_text <> '' THEN ? END)
  WHERE segment_id IN (SELECT value FROM json_each(?));

-- store/mirror.ts clearDeletion, in IndexDatabase
DELETE
  FROM assets
  WHERE asset_id = ?
  AND deleted_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.asset_key = assets.asset_key);

-- store/mirror.ts hasPresentFacts, in D1
SELECT asset_id, asset_type, title, metadata, technical, duration_ms, created_at, searchable_at,
    deleted_at, facts_revision
  FROM assets
  WHERE asset_id IN (SELECT value FROM json_each(?));

-- store/mirror.ts hasPresentFacts, in IndexDatabase
SELECT asset_id, asset_type, title, metadata, technical, duration_ms, created_at, searchable_at,
    deleted_at, facts_revision
  FROM assets
  WHERE asset_id IN (SELECT value FROM json_each(?));

-- store/mirror.ts listDeleted, in IndexDatabase
SELECT asset_id AS assetId
  FROM assets
  WHERE asset_id IN (SELECT value FROM json_each(?))
  AND deleted_at IS NOT NULL;

-- store/mirror.ts listOrphanAssets, in IndexDatabase
SELECT asset_key AS assetKey, asset_id AS assetId
  FROM assets
  WHERE asset_key > ?
  AND (deleted_at IS NULL OR EXISTS (SELECT 1 FROM segments WHERE segments.asset_key =
        assets.asset_key))
  ORDER BY asset_key
  LIMIT ?;

-- store/mirror.ts listOrphanAssets, in D1
SELECT value AS id
  FROM json_each(?)
  WHERE NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = value AND index_id = ?);

-- store/mirror.ts listUnmirroredAssets, in D1
SELECT index_id AS indexId, asset_id AS assetId
  FROM assets
  WHERE mirrored_revision < facts_revision
  AND updated_at < ?
  ORDER BY ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY random()), random()
  LIMIT ?;

-- store/mirror.ts markDeleted, in IndexDatabase
UPDATE assets
  SET deleted_at = ?, searchable_at = NULL
  WHERE asset_id = ?;

-- store/mirror.ts mirrorNewAsset, in IndexDatabase
UPDATE assets
  SET title = ?, metadata = ?, technical = ?, duration_ms = ?, created_at = ?
  WHERE asset_id = ?
  AND searchable_at IS NULL
  AND deleted_at IS NULL;

-- store/mirror.ts pruneDeleted, in IndexDatabase
DELETE
  FROM assets
  WHERE deleted_at < ?
  AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.asset_key = assets.asset_key);

-- store/mirror.ts restoreFacts, in IndexDatabase
UPDATE assets
  SET facts_revision = -1
  WHERE asset_id = ?;

-- store/observe-stores.ts observeDatabase, in D1
SELECT ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? AS sum;
SELECT ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ? + ?
    + ? + ? + ? + ? + ? AS sum;
SELECT length(?) AS length;
SELECT 1;

-- store/orphans.ts listFirstSegments, in IndexDatabase
SELECT segment_id AS id
  FROM assets
  CROSS
  JOIN segments USING (asset_key)
  WHERE position = 0
  ORDER BY substr(asset_id, 5)
  LIMIT 1000;

-- store/orphans.ts listStoredHashes, in D1
SELECT sha256
  FROM assets
  WHERE index_id = ?
  AND sha256 IN (SELECT value FROM json_each(?));

-- store/orphans.ts listUnknownSegments, in IndexDatabase
SELECT segment_id AS id
  FROM segments
  WHERE segment_id IN (SELECT value FROM json_each(?));

-- store/transcript-replacement.ts commitTranscript, in D1
INSERT INTO transcripts (asset_id, language, source, cues, created_at)
  SELECT ?, ?, 'upload', ?, ?
  WHERE EXISTS ( SELECT 1 FROM jobs JOIN assets USING (asset_id) WHERE jobs.job_id = ? AND
      jobs.state = 'running' )
  ON CONFLICT DO UPDATE
  SET language = excluded.language, source = excluded.source, cues = excluded.cues, error = NULL,
    created_at = excluded.created_at;
UPDATE assets
  SET transcript_job_id = ?, transcript_revision = transcript_revision + (transcript_job_id IS NOT
      ?), warnings = ?, updated_at = ?
  WHERE asset_id = ?
  AND EXISTS ( SELECT 1 FROM jobs JOIN assets USING (asset_id) WHERE jobs.job_id = ? AND jobs.state
      = 'running' );
SELECT transcript_revision AS revision
  FROM assets
  WHERE asset_id = ?
  AND EXISTS ( SELECT 1 FROM jobs JOIN assets USING (asset_id) WHERE jobs.job_id = ? AND jobs.state
      = 'running' );

-- store/transcript-replacement.ts listUnembedded, in IndexDatabase
SELECT transcript_revision AS revision
  FROM assets
  WHERE asset_id = ?;
SELECT segment_id AS segmentId, transcript
  FROM unembedded_speech
  JOIN segments USING (segment_key)
  WHERE job_id = ?
  AND asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  LIMIT ?;
SELECT COUNT(*) AS remainingCount
  FROM unembedded_speech
  JOIN segments USING (segment_key)
  WHERE job_id = ?
  AND asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?);

-- store/transcript-replacement.ts setEmbedded, in IndexDatabase
DELETE
  FROM unembedded_speech
  WHERE job_id IN (SELECT value FROM json_each(?))
  AND segment_key IN ( SELECT segment_key FROM segments WHERE segment_id IN (SELECT value FROM
        json_each(?)) AND +asset_key = (SELECT asset_key FROM assets WHERE asset_id = ? AND
        transcript_revision <= ?) );

-- store/transcript-replacement.ts setSegmentTranscripts, in IndexDatabase
UPDATE assets
  SET transcript_revision = ?
  WHERE asset_id = ?
  AND transcript_revision < ?;
INSERT OR IGNORE INTO unembedded_speech (segment_key, job_id)
  SELECT segment_key, ?
  FROM segments
  WHERE +asset_key = (SELECT asset_key FROM assets WHERE asset_id = ? AND transcript_revision <= ?)
  AND segment_key IN ( SELECT segment_key FROM unembedded_speech WHERE job_id IN (SELECT value FROM
        json_each(?)) );
INSERT OR IGNORE INTO unembedded_speech (segment_key, job_id)
  SELECT segment_key, ?
  FROM segments
  WHERE +asset_key = (SELECT asset_key FROM assets WHERE asset_id = ? AND transcript_revision <= ?)
  AND segment_id IN (SELECT value ->> 'segmentId' FROM json_each(?));

-- store/transcripts.ts putTranscript, in D1
INSERT INTO transcripts (asset_id, language, source, cues, error, created_at)
  VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE
  SET language = excluded.language, source = excluded.source, cues = excluded.cues, error =
    excluded.error, created_at = excluded.created_at;

-- store/transcripts.ts setCueCount, in D1
UPDATE transcripts
  SET cues = ?
  WHERE asset_id = ?
  AND EXISTS (SELECT 1 FROM assets WHERE asset_id = ? AND transcript_job_id IS ?);

-- durable/index-database.ts, in IndexDatabase
SELECT COUNT(*)
  FROM (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ? AND +rowid NOT IN (SELECT
        segment_key FROM assets JOIN segments USING (asset_key) WHERE assets.searchable_at IS NULL
        OR assets.searchable_at > ?) LIMIT ?);
SELECT rowid
  FROM segment_fts
  WHERE segment_fts MATCH ?
  AND +rowid IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ? AND +rowid NOT IN (SELECT
        segment_key FROM assets JOIN segments USING (asset_key) WHERE assets.searchable_at IS NULL
        OR assets.searchable_at > ?));
SELECT rowid, -bm25(segment_fts)
  FROM segment_fts
  WHERE segment_fts MATCH ?;
SELECT segment_key AS key, segment_id AS segmentId
  FROM segments
  WHERE segment_key IN (SELECT value FROM json_each(?));
SELECT COUNT(*)
  FROM (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ? AND +rowid IN (SELECT segment_key
        FROM assets JOIN segments USING (asset_key) WHERE (assets.searchable_at <= ?) AND
        (IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type) IN (SELECT
            value FROM json_each(?))) AND (EXISTS ( SELECT 1 FROM (SELECT assets.created_at AS
              value, 'real' AS type) AS actual, json_each(?) AS operand WHERE CASE actual.type WHEN
            'integer' THEN 'real' ELSE actual.type END = CASE operand.type WHEN 'integer' THEN
            'real' ELSE operand.type END AND actual.value > operand.value)) AND (NOT (EXISTS (
              SELECT 1 FROM (SELECT assets.duration_ms / 1000.0 AS value, 'real' AS type) AS actual,
              json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE
              actual.type END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END
              AND actual.value = operand.value))) AND (EXISTS ( SELECT 1 FROM (SELECT value, type
              FROM (WITH RECURSIVE member(rest, json) AS ( SELECT ?, assets.metadata UNION ALL
                  SELECT iif(rest = key, NULL, substr(rest, length(key) + 2)), CASE WHEN type IN
                  ('object', 'array') THEN value WHEN type IN ('true', 'false') THEN type ELSE
                  json_quote(value) END FROM member, json_each(member.json) WHERE
                  json_type(member.json) = 'object' AND (rest = key OR substr(rest, 1, length(key) +
                      1) = key || '.')) SELECT json AS field FROM member WHERE rest IS NULL),
              json_each(iif(json_type(field) = 'array', field, json_array(json(field))))) AS actual,
            json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE
            actual.type END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND
            actual.value = operand.value) OR NOT EXISTS (SELECT 1 FROM (SELECT value, type FROM
              (WITH RECURSIVE member(rest, json) AS ( SELECT ?, assets.metadata UNION ALL SELECT
                  iif(rest = key, NULL, substr(rest, length(key) + 2)), CASE WHEN type IN ('object',
                    'array') THEN value WHEN type IN ('true', 'false') THEN type ELSE
                  json_quote(value) END FROM member, json_each(member.json) WHERE
                  json_type(member.json) = 'object' AND (rest = key OR substr(rest, 1, length(key) +
                      1) = key || '.')) SELECT json AS field FROM member WHERE rest IS NULL),
              json_each(iif(json_type(field) = 'array', field, json_array(json(field))))) WHERE type
            <> 'null')) AND (EXISTS ( SELECT 1 FROM (SELECT value, type FROM (SELECT assets.metadata
                -> ? AS field), json_each(iif(json_type(field) = 'array', field,
                  json_array(json(field))))) AS actual, json_each(?) AS operand WHERE CASE
            actual.type WHEN 'integer' THEN 'real' ELSE actual.type END = CASE operand.type WHEN
            'integer' THEN 'real' ELSE operand.type END AND actual.value = operand.value)) AND
        (assets.asset_id IN (SELECT value FROM json_each(?))) AND (assets.asset_id <> ?)) LIMIT ?);
SELECT rowid
  FROM segment_fts
  WHERE segment_fts MATCH ?
  AND +rowid IN (SELECT segment_key FROM assets JOIN segments USING (asset_key) WHERE
      (assets.searchable_at <= ?) AND (IIF(assets.technical -> '$.has_video' = 'false', 'audio',
          assets.asset_type) IN (SELECT value FROM json_each(?))) AND (EXISTS ( SELECT 1 FROM
          (SELECT assets.created_at AS value, 'real' AS type) AS actual, json_each(?) AS operand
          WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE actual.type END = CASE operand.type
          WHEN 'integer' THEN 'real' ELSE operand.type END AND actual.value > operand.value)) AND
      (NOT (EXISTS ( SELECT 1 FROM (SELECT assets.duration_ms / 1000.0 AS value, 'real' AS type) AS
            actual, json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE
            actual.type END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND
            actual.value = operand.value))) AND (EXISTS ( SELECT 1 FROM (SELECT value, type FROM
            (WITH RECURSIVE member(rest, json) AS ( SELECT ?, assets.metadata UNION ALL SELECT
                iif(rest = key, NULL, substr(rest, length(key) + 2)), CASE WHEN type IN ('object',
                  'array') THEN value WHEN type IN ('true', 'false') THEN type ELSE
                json_quote(value) END FROM member, json_each(member.json) WHERE
                json_type(member.json) = 'object' AND (rest = key OR substr(rest, 1, length(key) +
                    1) = key || '.')) SELECT json AS field FROM member WHERE rest IS NULL),
            json_each(iif(json_type(field) = 'array', field, json_array(json(field))))) AS actual,
          json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE actual.type
          END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND actual.value
          = operand.value) OR NOT EXISTS (SELECT 1 FROM (SELECT value, type FROM (WITH RECURSIVE
              member(rest, json) AS ( SELECT ?, assets.metadata UNION ALL SELECT iif(rest = key,
                  NULL, substr(rest, length(key) + 2)), CASE WHEN type IN ('object', 'array') THEN
                value WHEN type IN ('true', 'false') THEN type ELSE json_quote(value) END FROM
                member, json_each(member.json) WHERE json_type(member.json) = 'object' AND (rest =
                  key OR substr(rest, 1, length(key) + 1) = key || '.')) SELECT json AS field FROM
              member WHERE rest IS NULL), json_each(iif(json_type(field) = 'array', field,
                json_array(json(field))))) WHERE type <> 'null')) AND (EXISTS ( SELECT 1 FROM
          (SELECT value, type FROM (SELECT assets.metadata -> ? AS field),
            json_each(iif(json_type(field) = 'array', field, json_array(json(field))))) AS actual,
          json_each(?) AS operand WHERE CASE actual.type WHEN 'integer' THEN 'real' ELSE actual.type
          END = CASE operand.type WHEN 'integer' THEN 'real' ELSE operand.type END AND actual.value
          = operand.value)) AND (assets.asset_id IN (SELECT value FROM json_each(?))) AND
      (assets.asset_id <> ?));
SELECT COUNT(*)
  FROM segment_fts_docsize;
SELECT COUNT(*)
  FROM segment_fts
  WHERE segment_fts MATCH ?;
SELECT MIN(segment_key) AS first, MAX(segment_key) AS last
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?);
SELECT segment_id AS segmentId, bm25
  FROM ( SELECT rowid AS segment_key, -bm25(segment_fts) AS bm25 FROM segment_fts WHERE segment_fts
      MATCH ? AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT segment_key FROM segments WHERE
        asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)) )
  JOIN segments USING (segment_key)
  ORDER BY bm25 DESC;
SELECT segment_id AS segmentId
  FROM segments
  WHERE asset_key = (SELECT asset_key FROM assets WHERE asset_id = ?)
  AND segment_key IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ?)
  AND segment_key NOT IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ?);
SELECT rowid
  FROM segment_fts
  WHERE segment_fts MATCH ?
  AND rowid BETWEEN ?
  AND ?
  AND +rowid IN (SELECT segment_key FROM segments WHERE asset_key = (SELECT asset_key FROM assets
        WHERE asset_id = ?));

-- durable/media-index.ts, in MediaIndex
SELECT asset_id AS assetId, asset_type AS assetType, job_id AS jobId, state, revision
  FROM assets
  WHERE asset_id = ?;
INSERT INTO assets (asset_id, asset_type, job_id, state, revision, due_at)
  VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE
  SET job_id = excluded.job_id, state = excluded.state, revision = excluded.revision, due_at =
    excluded.due_at;
INSERT INTO events (at, type, data)
  VALUES (?, ?, ?)
  RETURNING seq, at, type, data;
DELETE
  FROM events
  WHERE seq <= ?;
UPDATE deliveries
  SET phase = 'failed', error = ?, ended_at = ?, due_at = NULL
  WHERE seq IN ( SELECT seq FROM deliveries WHERE due_at IS NOT NULL AND TRUE ORDER BY seq DESC
      LIMIT -1 OFFSET ?);
DELETE
  FROM deliveries
  WHERE due_at IS NULL
  AND seq <= ( SELECT seq FROM deliveries WHERE due_at IS NULL ORDER BY seq DESC LIMIT 1 OFFSET ?);
INSERT OR REPLACE INTO deliveries (seq, type, payload, url, phase, attempts, created_at, due_at,
      ended_at, status_code, error)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
SELECT MIN(due)
  FROM ( SELECT MIN(due_at) AS due FROM assets UNION ALL SELECT MIN(due_at) FROM deliveries);
SELECT asset_id AS assetId, asset_type AS assetType, job_id AS jobId, state, revision
  FROM assets
  WHERE due_at <= ?
  ORDER BY due_at
  LIMIT ?;
SELECT seq, type, payload, url, phase, attempts, created_at AS createdAt, due_at AS dueAt, ended_at
    AS endedAt, status_code AS statusCode, error
  FROM deliveries
  WHERE due_at <= ?
  ORDER BY due_at
  LIMIT ?;
SELECT seq, type, payload, url, phase, attempts, created_at AS createdAt, due_at AS dueAt, ended_at
    AS endedAt, status_code AS statusCode, error
  FROM deliveries
  WHERE seq < ?
  ORDER BY seq DESC
  LIMIT ?;
SELECT phase, COUNT(*) AS n
  FROM deliveries
  GROUP BY phase;
SELECT seq, type, payload, url, phase, attempts, created_at AS createdAt, due_at AS dueAt, ended_at
    AS endedAt, status_code AS statusCode, error
  FROM deliveries
  WHERE seq = ?;
UPDATE deliveries
  SET phase = 'failed', error = ?, ended_at = ?, due_at = NULL
  WHERE seq IN ( SELECT seq FROM deliveries WHERE due_at IS NOT NULL AND url IS ? ORDER BY seq DESC
      LIMIT -1 OFFSET ?);
SELECT MAX(seq) AS seq
  FROM events;
SELECT MIN(seq) AS seq
  FROM events;
SELECT seq, at, type, data
  FROM events
  WHERE seq > ?
  ORDER BY seq;
DELETE
  FROM assets
  WHERE asset_id = ?;
DELETE
  FROM assets;
DELETE
  FROM events;
DELETE
  FROM deliveries;

-- durable/model-limiter.ts, in ModelLimiter
SELECT calls
  FROM windows
  WHERE model_class = ?;
INSERT INTO windows (model_class, calls)
  VALUES (?, ?)
  ON CONFLICT DO UPDATE
  SET calls = excluded.calls;
DELETE
  FROM limits_met
  WHERE minute <= ?;
INSERT INTO limits_met (model, code, minute, count)
  VALUES (?, ?, ?, 1)
  ON CONFLICT DO UPDATE
  SET count = count + 1;
SELECT model, code, SUM(count) AS count
  FROM limits_met
  WHERE minute > ?
  GROUP BY model, code
  ORDER BY model, code;
