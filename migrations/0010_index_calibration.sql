-- Own calibration of an index, fitted to its judgments: NULL for the general one.
ALTER TABLE indices ADD COLUMN calibration_slope REAL;
ALTER TABLE indices ADD COLUMN calibration_offset REAL;
ALTER TABLE indices ADD COLUMN calibration_tag INTEGER;
