-- Counts the changes of what an index can be asked about: an answer holds for one revision.
ALTER TABLE indices ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER assets_revise AFTER UPDATE OF state, title, metadata ON assets
WHEN 'ready' IN (new.state, old.state) BEGIN
  UPDATE indices SET revision = revision + 1 WHERE index_id = new.index_id;
END;

CREATE TRIGGER assets_revise_out AFTER DELETE ON assets WHEN old.state = 'ready' BEGIN
  UPDATE indices SET revision = revision + 1 WHERE index_id = old.index_id;
END;
