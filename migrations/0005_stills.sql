-- A video's segment has a signature for each of the different pictures in it, not for its keyframe alone.
DROP TRIGGER segments_forget_signature;
DROP TRIGGER signatures_add_keys;
DROP TRIGGER signatures_forget_keys;
ALTER TABLE signatures RENAME TO keyframe_signatures;
CREATE TABLE signatures (
  signature_id INTEGER PRIMARY KEY,
  segment_id   TEXT NOT NULL,
  index_id     TEXT NOT NULL,
  still_ms     INTEGER,                      -- of the video; NULL: the keyframe
  keys         TEXT NOT NULL,                -- [integer]
  thumbnail    TEXT NOT NULL                 -- grey levels, Base64
) STRICT;
INSERT INTO signatures SELECT signature_id, segment_id, index_id, NULL, keys, thumbnail FROM keyframe_signatures;
DROP TABLE keyframe_signatures;
CREATE INDEX signatures_by_segment ON signatures (segment_id);
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

-- What a video looks like about twice a second, to tell the times of the same footage. A row holds the
-- stills of a stretch, and goes with the asset's segments.
CREATE TABLE stills (
  asset_id   TEXT NOT NULL,
  start_ms   INTEGER NOT NULL,
  end_ms     INTEGER NOT NULL,
  times      TEXT NOT NULL,                  -- [ms], rising
  thumbnails BLOB NOT NULL,                  -- grey levels, one after another
  PRIMARY KEY (asset_id, start_ms)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER segments_forget_stills AFTER DELETE ON segments WHEN old.position = 0 BEGIN
  DELETE FROM stills WHERE asset_id = old.asset_id;
END;
