-- The rowids of an index's segments, and so of their words, are a range of their own: a search reads no
-- others, and no word has to name the index. The range begins at the index's rowid times 2^32.
CREATE TABLE renumbered (old INTEGER PRIMARY KEY, new INTEGER NOT NULL) STRICT;
INSERT INTO renumbered
  SELECT segments.rowid,
    (indices.rowid << 32) + row_number() OVER (PARTITION BY indices.rowid ORDER BY segments.rowid)
  FROM segments JOIN indices USING (index_id);
CREATE TABLE kept_words AS
  SELECT new, caption, transcript, on_screen_text, labels FROM segment_words JOIN renumbered ON old = segment_words.rowid;

DROP TABLE word_counts;
DROP TABLE segment_words;
UPDATE segments SET rowid = (SELECT new FROM renumbered WHERE old = segments.rowid)
  WHERE rowid IN (SELECT old FROM renumbered);

CREATE VIRTUAL TABLE segment_words USING fts5 (
  caption, transcript, on_screen_text, labels,
  tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE word_counts USING fts5vocab(segment_words, 'row');
INSERT INTO segment_words (rowid, caption, transcript, on_screen_text, labels) SELECT * FROM kept_words;

DROP TABLE kept_words;
DROP TABLE renumbered;
