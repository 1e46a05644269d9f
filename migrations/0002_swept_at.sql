-- When the cron trigger last ran, in epoch milliseconds. NULL before its first run.
ALTER TABLE deployment ADD COLUMN swept_at INTEGER;
