/**
 * Schema of `MediaIndex`, forward only and additive (scripts/check-sql.ts). `due_at` is when the
 * alarm must handle the row, in epoch ms. NULL means never.
 */
export const MEDIA_INDEX_MIGRATIONS = [
  `CREATE TABLE assets (
     asset_id   TEXT PRIMARY KEY,
     asset_type TEXT NOT NULL,
     job_id     TEXT,
     state      TEXT NOT NULL, -- IngestState
     revision   INTEGER NOT NULL,
     due_at     INTEGER
   ) STRICT;
   CREATE INDEX assets_by_due ON assets (due_at);
   CREATE TABLE events (
     seq  INTEGER PRIMARY KEY AUTOINCREMENT, -- AUTOINCREMENT never reuses a number
     at   INTEGER NOT NULL,
     type TEXT NOT NULL,
     data TEXT NOT NULL
   ) STRICT;
   CREATE TABLE deliveries (
     seq         INTEGER PRIMARY KEY, -- the event's
     type        TEXT NOT NULL,
     payload     TEXT NOT NULL,
     phase       TEXT NOT NULL,
     attempts    INTEGER NOT NULL,
     created_at  INTEGER NOT NULL,
     due_at      INTEGER,
     ended_at    INTEGER,
     status_code INTEGER,
     error       TEXT
   ) STRICT;
   CREATE INDEX deliveries_by_due ON deliveries (due_at);`,
  `-- Where a delivery goes; NULL: to the webhook of the index.
   ALTER TABLE deliveries ADD COLUMN url TEXT;`,
  `-- The consumer that has the lease of a delivery.
   ALTER TABLE deliveries ADD COLUMN consumer TEXT;`,
];
