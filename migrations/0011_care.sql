-- When an asset's removal began: what is written for it from then on goes again.
ALTER TABLE assets ADD COLUMN deleted_at INTEGER;
-- When a failed ingest was begun again by a traversal, which happens once.
ALTER TABLE assets ADD COLUMN restarted_at INTEGER;

-- When an index is traversed by itself: every day, or as its settings say; NULL: never.
ALTER TABLE indices ADD COLUMN traverse_due_at INTEGER GENERATED ALWAYS AS (
  CASE WHEN json_type(settings, '$.traverse_every_hours') IS 'null' THEN NULL
  ELSE COALESCE(last_traversed_at, created_at) + COALESCE(settings ->> '$.traverse_every_hours', 24) * 3600000 END
) VIRTUAL;
CREATE INDEX indices_by_traverse_due ON indices (traverse_due_at) WHERE deleted_at IS NULL;
-- The model that made all text vectors of an index, as far as the last traversal knows.
ALTER TABLE indices ADD COLUMN text_model TEXT;
CREATE INDEX indices_by_text_model ON indices (text_model) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX jobs_one_traverse ON jobs (index_id) WHERE kind = 'traverse' AND state IN ('queued', 'running');
CREATE INDEX jobs_by_traverse ON jobs (index_id, created_at) WHERE kind = 'traverse';

CREATE INDEX signatures_by_index ON signatures (index_id);
