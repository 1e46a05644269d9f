import type { Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import { type Language, guessLanguage, toLanguage } from "../text/languages.ts";
import type { Asset, Segment } from "../types.ts";
import type { IndexDb } from "./index-database/index-database.ts";
import { ofAsset } from "./index-database/segments.ts";
import { type SqlFragment, batch, inChunks, inList, sql, d1 } from "./sql.ts";

type SegmentTranscript = Pick<Segment, "segmentId" | "transcript">;

export interface TranscriptChange {
  assetId: AssetId;
  jobId: JobId;
  language: string | null;
  cueCount: number;
  warnings: Failure[];
}

/** Time for which a cancelled job may still be cleaning up. */
const CLEANUP_MS = 60 * 60 * 1000;

export async function listUnembeddedJobs(index: IndexDb, assetId: AssetId): Promise<JobId[]> {
  const jobs = await index.all<{ jobId: JobId }>(
    sql`SELECT DISTINCT job_id AS jobId FROM unembedded_speech JOIN segments USING (segment_key)
      WHERE ${ofAsset(assetId)}`,
  );
  return jobs.map(({ jobId }) => jobId);
}

/** Lists those of `listUnembeddedJobs` that aren't processed any more. */
export async function listAbandonedJobs(
  db: D1Database,
  index: IndexDb,
  assetId: AssetId,
  now: number,
): Promise<JobId[]> {
  const jobIds = await listUnembeddedJobs(index, assetId);
  if (jobIds.length === 0) return [];
  const rows = await d1(db).all<{ jobId: JobId }>`SELECT job_id AS jobId FROM jobs
    WHERE job_id ${inList(jobIds)} AND (state IN ('queued', 'running')
      OR (state = 'cancelled' AND updated_at > ${now - CLEANUP_MS}))`;
  const activeIds = new Set(rows.map(({ jobId }) => jobId));
  return jobIds.filter((jobId) => !activeIds.has(jobId));
}

/**
 * Records in D1 that the asset has the transcript that a job stored. Returns its revision, even if
 * that was recorded before. Returns null, and changes nothing, if the job was cancelled or the
 * asset deleted.
 */
export async function commitTranscript(
  db: D1Database,
  { assetId, jobId, language, cueCount, warnings }: TranscriptChange,
): Promise<number | null> {
  const now = Date.now();
  const isActive = sql`EXISTS (
    SELECT 1 FROM jobs JOIN assets USING (asset_id)
    WHERE jobs.job_id = ${jobId} AND jobs.state = 'running'
  )`;
  const [, , committed] = await batch<{ revision: number }>(db, [
    sql`INSERT INTO transcripts (asset_id, language, source, cues, created_at)
        SELECT ${assetId}, ${language}, 'upload', ${cueCount}, ${now} WHERE ${isActive}
        ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
          cues = excluded.cues, error = NULL, created_at = excluded.created_at`,
    sql`UPDATE assets SET transcript_job_id = ${jobId},
          transcript_revision = transcript_revision + (transcript_job_id IS NOT ${jobId}),
          warnings = ${JSON.stringify(warnings)}, updated_at = ${now}
        WHERE asset_id = ${assetId} AND ${isActive}`,
    sql`SELECT transcript_revision AS revision FROM assets
        WHERE asset_id = ${assetId} AND ${isActive}`,
  ]);
  return committed!.results[0]?.revision ?? null;
}

/**
 * Writes the transcripts of segments. The changed segments, and the ones that `earlierJobs` left
 * without up-to-date vectors, become the job's `listUnembedded`. Changes nothing if the asset has a
 * newer transcript than `revision`. A null `language` leaves the asset's. May be cut off between
 * two batches of segments.
 */
export async function setSegmentTranscripts(
  db: IndexDb,
  {
    assetId,
    revision,
    language,
  }: { assetId: AssetId; revision: number; language: Language | null },
  jobId: JobId,
  segmentTranscripts: SegmentTranscript[],
  earlierJobs: readonly JobId[],
): Promise<void> {
  const isCurrent = ofTranscript(assetId, revision);
  const setUnembedded = (condition: SqlFragment) =>
    sql`INSERT OR IGNORE INTO unembedded_speech (segment_key, job_id)
      SELECT segment_key, ${jobId} FROM segments WHERE ${isCurrent} AND ${condition}`;
  await db.batch([
    sql`UPDATE assets SET transcript_revision = ${revision}
      WHERE asset_id = ${assetId} AND transcript_revision < ${revision}`,
    setUnembedded(
      sql`segment_key IN (
        SELECT segment_key FROM unembedded_speech WHERE job_id ${inList(earlierJobs)}
      )`,
    ),
    ...(language === null ? [] : setLanguage(assetId, revision, language)),
  ]);
  for (const chunk of inChunks(segmentTranscripts)) {
    const changed = sql`SELECT value ->> 'segmentId' FROM json_each(${chunk})`;
    await db.batch([
      setUnembedded(sql`segment_id IN (${changed})`),
      setTranscripts(chunk, isCurrent),
    ]);
  }
}

/**
 * Lists segments whose vectors a job has to update, with their present transcripts, the revision of
 * these, and the number of all such segments.
 */
export async function listUnembedded(db: IndexDb, assetId: AssetId, jobId: JobId, limit: number) {
  const unembedded = sql`FROM unembedded_speech JOIN segments USING (segment_key)
    WHERE job_id = ${jobId} AND ${ofAsset(assetId)}`;
  const [assets, segments, counts] = await db.batch([
    sql`SELECT transcript_revision AS revision FROM assets WHERE asset_id = ${assetId}`,
    sql`SELECT segment_id AS segmentId, transcript
      ${unembedded} LIMIT ${limit}`,
    sql`SELECT COUNT(*) AS remainingCount ${unembedded}`,
  ]);
  return {
    revision: (assets as { revision: number }[])[0]?.revision ?? 0,
    segmentTranscripts: segments as SegmentTranscript[],
    remainingCount: (counts as { remainingCount: number }[])[0]?.remainingCount ?? 0,
  };
}

/**
 * Records that the vectors of segments match the transcripts that `listUnembedded` returned: none
 * of the jobs has to update them. Changes nothing if the transcript was replaced since.
 */
export async function setEmbedded(
  db: IndexDb,
  assetId: AssetId,
  jobIds: readonly JobId[],
  { revision, segmentTranscripts }: Awaited<ReturnType<typeof listUnembedded>>,
): Promise<void> {
  const ids = segmentTranscripts.map(({ segmentId }) => segmentId);
  await db.batch([
    sql`DELETE FROM unembedded_speech WHERE job_id ${inList(jobIds)} AND segment_key IN (
        SELECT segment_key FROM segments
        WHERE segment_id ${inList(ids)} AND ${ofTranscript(assetId, revision)}
      )`,
  ]);
}

/**
 * Writes the transcripts of segments and their language, unless the asset has a newer transcript in
 * the meantime. `tag` is the language of the transcript (BCP 47); null if it isn't known.
 */
export async function updateTranscripts(
  db: IndexDb,
  { assetId, transcriptRevision }: Pick<Asset, "assetId" | "transcriptRevision">,
  segments: Pick<Segment, "segmentId" | "transcript">[],
  tag: string | null,
): Promise<void> {
  const language = speechLanguage(tag, segments);
  if (language !== null) await db.batch(setLanguage(assetId, transcriptRevision, language));
  for (const chunk of inChunks(segments)) {
    await db.batch([setTranscripts(chunk, ofTranscript(assetId, transcriptRevision))]);
  }
}

/** Statement that writes the transcripts of a JSON array of segments that are `isCurrent`. */
function setTranscripts(chunk: string, isCurrent: SqlFragment): SqlFragment {
  return sql`UPDATE segments SET transcript = value ->> 'transcript' FROM json_each(${chunk})
    WHERE segment_id = value ->> 'segmentId' AND ${isCurrent}`;
}

/** Returns the language of speech by its tag, else guessed; null without any. */
export function speechLanguage(tag: string | null, segments: Pick<Segment, "transcript">[]) {
  if (tag !== null) return toLanguage(tag);
  const text = segments.map(({ transcript }) => transcript).join(" ");
  return text.trim() === "" ? null : guessLanguage(text);
}

/** Statements that set the language of an asset's text. Another one writes its full text again. */
function setLanguage(assetId: AssetId, revision: number, language: Language): SqlFragment[] {
  const changed = sql`(SELECT asset_key FROM assets WHERE asset_id = ${assetId}
    AND transcript_revision <= ${revision} AND language IS NOT ${language})`;
  return [
    sql`UPDATE segments SET indexed = 0 WHERE asset_key = ${changed}`,
    sql`UPDATE assets SET language = ${language} WHERE asset_key = ${changed}`,
  ];
}

/**
 * Condition for the segments of an asset, unless its transcript is newer than `revision`. Filters
 * segments that are found by their ids: found by their asset, each would read the ids again.
 */
function ofTranscript(assetId: AssetId, revision: number): SqlFragment {
  return sql`+asset_key = (SELECT asset_key FROM assets
    WHERE asset_id = ${assetId} AND transcript_revision <= ${revision})`;
}
