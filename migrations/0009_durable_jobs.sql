-- What a job is to do, until it has ended, and when it is asked for again if nothing is heard of it. NULL
-- of an ingest, which its index's object looks after.
ALTER TABLE jobs ADD COLUMN message TEXT;
ALTER TABLE jobs ADD COLUMN due_at INTEGER;
ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0; -- 1: by a worker, whose lease runs out at due_at
ALTER TABLE jobs ADD COLUMN asks INTEGER NOT NULL DEFAULT 0; -- since it last got on
CREATE INDEX jobs_by_due ON jobs (due_at) WHERE due_at IS NOT NULL;
CREATE TRIGGER jobs_end AFTER UPDATE OF state ON jobs
WHEN new.state IN ('succeeded', 'failed', 'cancelled') AND new.due_at IS NOT NULL BEGIN
  UPDATE jobs SET message = NULL, due_at = NULL, held = 0 WHERE job_id = new.job_id;
END;
