-- Folder of the file, which becomes a fact of its asset.
ALTER TABLE uploads ADD COLUMN folder TEXT NOT NULL DEFAULT '';
