-- What the decoder converted for an account on a day.
ALTER TABLE usage ADD COLUMN converted_seconds REAL NOT NULL DEFAULT 0;
