/**
 * Schema changes in order, forward only. `due_at` is when the alarm must handle the row, in epoch
 * ms. NULL means never.
 */
const MIGRATIONS = [
  `CREATE TABLE assets (
     asset_id TEXT PRIMARY KEY,
     state    TEXT NOT NULL,
     revision INTEGER NOT NULL,
     due_at   INTEGER
   );
   CREATE INDEX assets_by_due ON assets (due_at);`,

  `ALTER TABLE assets ADD COLUMN asset_type TEXT NOT NULL DEFAULT 'video';
   UPDATE assets SET asset_type = 'image' WHERE asset_id LIKE 'img%';
   ALTER TABLE assets ADD COLUMN job_id TEXT;
   CREATE TABLE events (
     seq  INTEGER PRIMARY KEY AUTOINCREMENT, -- AUTOINCREMENT never reuses a number
     at   INTEGER NOT NULL,
     type TEXT NOT NULL,
     data TEXT NOT NULL
   );
   CREATE TABLE deliveries (
     seq        INTEGER PRIMARY KEY, -- the event's
     type       TEXT NOT NULL,
     payload    TEXT NOT NULL,
     phase      TEXT NOT NULL,
     attempts   INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     due_at     INTEGER,
     ended_at   INTEGER,
     status     INTEGER,
     problem    TEXT
   );
   CREATE INDEX deliveries_by_due ON deliveries (due_at);`,

  `ALTER TABLE deliveries RENAME COLUMN status TO status_code;
   ALTER TABLE deliveries RENAME COLUMN problem TO error;
   UPDATE deliveries SET phase = 'scheduled' WHERE phase = 'waiting';
   UPDATE deliveries SET phase = 'queued' WHERE phase = 'asked';
   UPDATE assets SET state = replace(state, '"asks":', '"dispatches":');
   UPDATE assets SET state = replace(state, '"status":"waiting"', '"status":"dispatched"');
   UPDATE assets SET state = replace(state, '"status":"running"', '"status":"leased"');
   UPDATE assets SET state = replace(state, '"look"', '"detect_shots"');
   UPDATE assets SET state = replace(state, '"listen"', '"recognize_speech"');
   UPDATE assets SET state = replace(state, '"transcribe"', '"align_transcript"');
   UPDATE assets SET state = replace(state, '"watch"', '"index_frames"');`,
];

export function migrate(storage: DurableObjectStorage): void {
  const done = storage.kv.get<number>("schema") ?? 0;
  if (done === MIGRATIONS.length) return;
  storage.transactionSync(() => {
    for (const sql of MIGRATIONS.slice(done)) storage.sql.exec(sql);
    storage.kv.put("schema", MIGRATIONS.length);
  });
}
