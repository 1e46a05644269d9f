-- An asset's ingest is metered when it first gets ready: what is done again from the start isn't another.
DROP TRIGGER assets_meter;
CREATE TRIGGER assets_meter AFTER UPDATE OF state ON assets WHEN new.state = 'ready' AND old.ready_at IS NULL BEGIN
  INSERT INTO usage (account_id, date, ingested_ms, ingested_images)
  VALUES (new.account_id, date('now'), new.duration_ms, new.asset_type = 'image')
  ON CONFLICT DO UPDATE SET ingested_ms = ingested_ms + excluded.ingested_ms,
    ingested_images = ingested_images + excluded.ingested_images;
END;

-- The signing secret of a key, by its name, as of its last use.
ALTER TABLE api_keys ADD COLUMN signed_with TEXT;
