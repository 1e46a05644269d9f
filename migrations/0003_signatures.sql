-- What a segment's keyframe looks like, to find the same picture again.
CREATE TABLE signatures (
  signature_id INTEGER PRIMARY KEY,
  segment_id   TEXT NOT NULL UNIQUE,
  index_id     TEXT NOT NULL,
  keys         TEXT NOT NULL,                -- [integer]
  thumbnail    TEXT NOT NULL                 -- grey levels, Base64
) STRICT;

-- The same keys, to be looked up.
CREATE TABLE signature_keys (
  index_id     TEXT NOT NULL,
  key          INTEGER NOT NULL,
  signature_id INTEGER NOT NULL,
  PRIMARY KEY (index_id, key, signature_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER signatures_add_keys AFTER INSERT ON signatures BEGIN
  INSERT OR IGNORE INTO signature_keys (index_id, key, signature_id)
  SELECT new.index_id, value, new.signature_id FROM json_each(new.keys);
END;
CREATE TRIGGER signatures_forget_keys AFTER DELETE ON signatures BEGIN
  DELETE FROM signature_keys WHERE index_id = old.index_id AND signature_id = old.signature_id
    AND key IN (SELECT value FROM json_each(old.keys));
END;
CREATE TRIGGER segments_forget_signature AFTER DELETE ON segments BEGIN
  DELETE FROM signatures WHERE segment_id = old.segment_id;
END;
