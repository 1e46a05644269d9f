-- The job that put a video's present transcript in; NULL: its ingest did. Its cues are named by it.
ALTER TABLE assets ADD COLUMN transcript_job TEXT;
CREATE TRIGGER assets_revise_transcript AFTER UPDATE OF transcript_job ON assets BEGIN
  UPDATE indices SET revision = revision + 1 WHERE index_id = new.index_id;
END;

-- Segments whose spoken words a job has changed, until their vectors have followed.
CREATE TABLE unembedded_speech (
  segment_id TEXT NOT NULL,
  job_id     TEXT NOT NULL,
  PRIMARY KEY (segment_id, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unembedded_speech_by_job ON unembedded_speech (job_id);
CREATE TRIGGER segments_forget_unembedded AFTER DELETE ON segments BEGIN
  DELETE FROM unembedded_speech WHERE segment_id = old.segment_id;
END;
