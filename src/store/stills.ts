import type { AssetId } from "../ids.ts";
import type { Span } from "./segments.ts";

/** What a stretch of a video looks like, small. Times are ms of the video. */
export interface StillsRow {
  startMs: number;
  endMs: number;
  /** Rising. */
  times: number[];
  /** Grey levels (`media/thumbnails.ts`), one thumbnail after another. */
  thumbnails: Uint8Array;
}

/** Keeps the stills of a stretch in place of any others. They go when the asset's segments go. */
export async function putStills(
  db: D1Database,
  assetId: AssetId,
  { startMs, endMs, times, thumbnails }: StillsRow,
): Promise<void> {
  await db
    .prepare(
      `INSERT OR REPLACE INTO stills (asset_id, start_ms, end_ms, times, thumbnails)
       SELECT asset_id, ?2, ?3, ?4, ?5 FROM segments WHERE asset_id = ?1 AND position = 0`,
    )
    .bind(assetId, startMs, endMs, JSON.stringify(times), thumbnails)
    .run();
}

/** The rows that reach into spans, in the order of these and of time. */
export async function listStills(db: D1Database, spans: Span[]): Promise<StillsRow[]> {
  if (spans.length === 0) return [];
  const statement = db.prepare(
    `SELECT start_ms AS startMs, end_ms AS endMs, times, thumbnails FROM stills
     WHERE asset_id = ? AND start_ms < ? AND end_ms > ? ORDER BY start_ms`,
  );
  const answers = await db.batch<{
    startMs: number;
    endMs: number;
    times: string;
    thumbnails: number[];
  }>(spans.map(({ assetId, startMs, endMs }) => statement.bind(assetId, endMs, startMs)));
  return answers.flatMap(({ results }) =>
    results.map(({ startMs, endMs, times, thumbnails }) => {
      const known: number[] = JSON.parse(times);
      return { startMs, endMs, times: known, thumbnails: Uint8Array.from(thumbnails) };
    }),
  );
}
