import type { Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import type { Asset, Segment } from "../types.ts";
import { encodeFtsText } from "./fulltext.ts";
import { inChunks, inList, prepare, sql, type SqlFragment } from "./sql.ts";

type SegmentTranscript = Pick<Segment, "segmentId" | "transcript">;

export interface TranscriptChange {
  asset: Asset;
  jobId: JobId;
  language: string | null;
  cueCount: number;
  warnings: Failure[];
  /** New transcripts of the segments whose transcript changes. */
  segmentTranscripts: SegmentTranscript[];
}

/** Time for which a cancelled job may still be cleaning up. */
const CLEANUP_MS = 60 * 60 * 1000;

/** Condition for rows of `unembedded_speech` whose job isn't processed any more. */
export function isAbandoned(now: number): SqlFragment {
  return sql`NOT EXISTS (
    SELECT 1 FROM jobs WHERE jobs.job_id = unembedded_speech.job_id AND (
      state IN ('queued', 'running')
      OR (state = 'cancelled' AND updated_at > ${now - CLEANUP_MS})
    )
  )`;
}

/** Condition that a job is running and its asset exists. */
function isJobActive(jobId: JobId): SqlFragment {
  return sql`EXISTS (
    SELECT 1 FROM jobs JOIN assets USING (asset_id)
    WHERE jobs.job_id = ${jobId} AND jobs.state = 'running'
  )`;
}

/** Condition that the asset's transcript is still the one of `transcriptJobId`. */
function hasTranscript(assetId: AssetId, transcriptJobId: JobId | null): SqlFragment {
  return sql`EXISTS (
    SELECT 1 FROM assets WHERE asset_id = ${assetId} AND transcript_job_id IS ${transcriptJobId}
  )`;
}

/** Writes the transcripts of segments and their full-text rows, if `condition` holds. */
function updateTranscripts(
  db: D1Database,
  transcripts: SegmentTranscript[],
  condition: SqlFragment,
): D1PreparedStatement[] {
  const encoded = transcripts.map(({ segmentId, transcript }) => {
    return { segmentId, transcript: encodeFtsText(transcript) };
  });
  return [
    ...inChunks(transcripts).map(
      (chunk) => sql`UPDATE segments SET transcript = value ->> 'transcript'
        FROM json_each(${chunk})
        WHERE segment_id = value ->> 'segmentId' AND ${condition}`,
    ),
    ...inChunks(encoded).map(
      (chunk) => sql`UPDATE segment_fts SET transcript = value ->> 'transcript'
        FROM json_each(${chunk}), segments
        WHERE segment_id = value ->> 'segmentId' AND segment_fts.rowid = segments.rowid
          AND ${condition}`,
    ),
  ].map((update) => prepare(db, update));
}

/**
 * Replaces the transcript of a job's asset in one transaction: the asset, the transcripts of
 * segments and the full text. The changed segments, and the ones that earlier jobs left without
 * up-to-date vectors, become the job's `listUnembedded`. Returns false, and changes nothing, if the
 * job was cancelled or the asset deleted.
 */
export async function commitTranscript(db: D1Database, change: TranscriptChange): Promise<boolean> {
  const { asset, jobId, language, cueCount, warnings, segmentTranscripts } = change;
  const now = Date.now();
  const isActive = isJobActive(jobId);
  const changedIds = segmentTranscripts.map(({ segmentId }) => segmentId);
  const results = await db.batch([
    prepare(
      db,
      sql`INSERT OR IGNORE INTO unembedded_speech (segment_id, job_id)
        SELECT segment_id, ${jobId} FROM segments
        WHERE asset_id = ${asset.assetId} AND ${isActive} AND (
          segment_id ${inList(changedIds)} OR EXISTS (
            SELECT 1 FROM unembedded_speech AS earlier
            WHERE earlier.segment_id = segments.segment_id
          )
        )`,
    ),
    ...updateTranscripts(db, segmentTranscripts, isActive),
    prepare(
      db,
      sql`INSERT INTO transcripts (asset_id, language, source, cues, created_at)
        SELECT ${asset.assetId}, ${language}, 'upload', ${cueCount}, ${now} WHERE ${isActive}
        ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
          cues = excluded.cues, error = NULL, created_at = excluded.created_at`,
    ),
    prepare(
      db,
      sql`UPDATE assets SET transcript_job_id = ${jobId}, warnings = ${JSON.stringify(warnings)},
          updated_at = ${now}
        WHERE asset_id = ${asset.assetId} AND ${isActive}`,
    ),
  ]);
  return results.at(-1)!.meta.changes > 0;
}

/** Segments whose vectors don't match their transcripts yet. */
export interface Unembedded {
  /** The job that uploaded the asset's transcript; null if the ingest made it. */
  transcriptJobId: JobId | null;
  segmentTranscripts: SegmentTranscript[];
  /** Segments beyond the limit included. */
  remainingCount: number;
}

/** Lists segments whose vectors a job has to update, with their present transcripts. */
export async function listUnembedded(
  db: D1Database,
  assetId: AssetId,
  jobId: JobId,
  limit: number,
): Promise<Unembedded> {
  const [assets, segments, counts] = await db.batch([
    db
      .prepare("SELECT transcript_job_id AS transcriptJobId FROM assets WHERE asset_id = ?")
      .bind(assetId),
    db
      .prepare(
        `SELECT segment_id AS segmentId, transcript
         FROM unembedded_speech JOIN segments USING (segment_id) WHERE job_id = ? LIMIT ?`,
      )
      .bind(jobId, limit),
    db
      .prepare("SELECT COUNT(*) AS remainingCount FROM unembedded_speech WHERE job_id = ?")
      .bind(jobId),
  ]);
  const [asset] = assets!.results as Pick<Unembedded, "transcriptJobId">[];
  const [count] = counts!.results as Pick<Unembedded, "remainingCount">[];
  return {
    transcriptJobId: asset?.transcriptJobId ?? null,
    segmentTranscripts: segments!.results as SegmentTranscript[],
    remainingCount: count!.remainingCount,
  };
}

/**
 * Records that the vectors of segments match the transcripts that `listUnembedded` returned:
 * neither the job nor abandoned jobs have to update them. Changes nothing if the transcript was
 * replaced since.
 */
export async function setEmbedded(
  db: D1Database,
  { assetId, indexId }: Pick<Asset, "assetId" | "indexId">,
  jobId: JobId,
  { transcriptJobId, segmentTranscripts }: Unembedded,
): Promise<void> {
  const ids = segmentTranscripts.map(({ segmentId }) => segmentId);
  await db.batch([
    prepare(
      db,
      sql`DELETE FROM unembedded_speech
        WHERE segment_id ${inList(ids)} AND ${hasTranscript(assetId, transcriptJobId)}
          AND (job_id = ${jobId} OR ${isAbandoned(Date.now())})`,
    ),
    db.prepare("UPDATE indices SET revision = revision + 1 WHERE index_id = ?").bind(indexId),
  ]);
}

/**
 * Rewrites the transcripts of segments from the asset's present transcript, with the full text. The
 * changed segments, and the ones that abandoned jobs left without up-to-date vectors, become the
 * job's `listUnembedded`. Changes nothing if the transcript was replaced meanwhile.
 */
export async function setSegmentTranscripts(
  db: D1Database,
  { assetId, transcriptJobId }: Asset,
  jobId: JobId,
  segmentTranscripts: SegmentTranscript[],
): Promise<void> {
  const isCurrent = hasTranscript(assetId, transcriptJobId);
  const changedIds = segmentTranscripts.map(({ segmentId }) => segmentId);
  await db.batch([
    prepare(
      db,
      sql`INSERT OR IGNORE INTO unembedded_speech (segment_id, job_id)
        SELECT segment_id, ${jobId} FROM segments
        WHERE asset_id = ${assetId} AND ${isCurrent} AND (
          segment_id ${inList(changedIds)} OR EXISTS (
            SELECT 1 FROM unembedded_speech
            WHERE unembedded_speech.segment_id = segments.segment_id
              AND ${isAbandoned(Date.now())}
          )
        )`,
    ),
    ...updateTranscripts(db, segmentTranscripts, isCurrent),
  ]);
}
