-- The waveform of sound without pictures: 1,000 amplitudes from 0 to 1, which records in lists leave out.
ALTER TABLE assets ADD COLUMN waveform TEXT;

-- It counts among the bytes of its account, as the other columns of 0003 do. No row has one yet.
DROP TRIGGER assets_bytes_in;
DROP TRIGGER assets_bytes_change;
DROP TRIGGER assets_bytes_out;
ALTER TABLE assets DROP COLUMN record_bytes;
ALTER TABLE assets ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (1200 + length(CAST(title AS BLOB)) + COALESCE(length(CAST(error AS BLOB)), 0) + length(CAST(warnings AS BLOB)) + length(CAST(source AS BLOB)) + length(CAST(technical AS BLOB)) + length(CAST(metadata AS BLOB)) + COALESCE(length(CAST(waveform AS BLOB)), 0)) VIRTUAL;
CREATE TRIGGER assets_bytes_in AFTER INSERT ON assets BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER assets_bytes_change AFTER UPDATE ON assets WHEN new.record_bytes <> old.record_bytes BEGIN UPDATE accounts SET record_bytes = record_bytes + new.record_bytes - old.record_bytes WHERE account_id = new.account_id; END;
CREATE TRIGGER assets_bytes_out AFTER DELETE ON assets BEGIN UPDATE accounts SET record_bytes = record_bytes - old.record_bytes WHERE account_id = old.account_id; END;
