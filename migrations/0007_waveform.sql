-- The waveform of sound without pictures: 1,000 amplitudes from 0 to 1, which records in lists leave out.
ALTER TABLE assets ADD COLUMN waveform TEXT;
