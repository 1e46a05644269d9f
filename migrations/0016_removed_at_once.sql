-- What is being removed isn't searchable any more, and what an index can be asked about has changed.
DROP INDEX assets_by_searchable;
ALTER TABLE assets DROP COLUMN searchable_at;
ALTER TABLE assets ADD COLUMN searchable_at INTEGER GENERATED ALWAYS AS (
  CASE WHEN state = 'ready' AND deleted_at IS NULL THEN ready_at ELSE 9007199254740991 END
) VIRTUAL;
CREATE INDEX assets_by_searchable ON assets (index_id, searchable_at);

CREATE TRIGGER assets_revise_removal AFTER UPDATE OF deleted_at ON assets WHEN new.state = 'ready' BEGIN
  UPDATE indices SET revision = revision + 1 WHERE index_id = new.index_id;
END;
