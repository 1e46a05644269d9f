-- When an asset first became searchable (epoch ms): pages of a search show what was there at its start.
ALTER TABLE assets ADD COLUMN ready_at INTEGER;
UPDATE assets SET ready_at = updated_at WHERE state = 'ready';
