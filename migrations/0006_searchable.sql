-- When an asset that is ready became searchable (epoch ms); of others, never. A search leaves out the few that
-- aren't instead of looking up each that is.
ALTER TABLE assets ADD COLUMN searchable_at INTEGER
  GENERATED ALWAYS AS (CASE state WHEN 'ready' THEN ready_at ELSE 9007199254740991 END) VIRTUAL;
CREATE INDEX assets_by_searchable ON assets (index_id, searchable_at);

-- How many segments hold a word: what it tells.
CREATE VIRTUAL TABLE word_counts USING fts5vocab(segment_words, 'row');
