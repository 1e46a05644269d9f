import type { Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import type { Asset, Segment } from "../types.ts";
import { inChunks } from "./rows.ts";
import { toIndexed } from "./words.ts";

type Said = Pick<Segment, "segmentId" | "transcript">;

export interface TranscriptChange {
  asset: Asset;
  jobId: JobId;
  language: string | null;
  cues: number;
  warnings: Failure[];
  /** Of the segments whose words change. */
  said: Said[];
}

/** What becomes of a job that was cancelled half-way is still made good for so long. */
const SETTLED_MS = 60 * 60 * 1000;

/** Holds of a row of `unembedded_speech` whose job nobody works on any more; `?1` is the present. */
export const IS_LEFT = `NOT EXISTS (
  SELECT 1 FROM jobs WHERE jobs.job_id = unembedded_speech.job_id
    AND (state IN ('queued', 'running') OR (state = 'cancelled' AND updated_at > ?1 - ${SETTLED_MS}))
)`;

/** Holds while a job runs and its asset is there. */
const IS_WANTED = `EXISTS (
  SELECT 1 FROM jobs JOIN assets USING (asset_id) WHERE jobs.job_id = ?1 AND jobs.state = 'running'
)`;

/**
 * Puts a job's transcript in the place of the present one, all at once: the record, the words of segments,
 * and the full text. The segments whose vectors must follow, and those that earlier jobs left behind, become
 * the job's `listUnembedded`. False, and nothing done, where the job was cancelled or the asset deleted.
 */
export async function replaceSpeech(db: D1Database, change: TranscriptChange): Promise<boolean> {
  const { asset, jobId, language, cues, warnings, said } = change;
  const now = Date.now();
  const setWords = db.prepare(
    `UPDATE segments SET transcript = value ->> 'transcript' FROM json_each(?2)
     WHERE segment_id = value ->> 'segmentId' AND ${IS_WANTED}`,
  );
  const indexWords = db.prepare(
    `UPDATE segment_words SET transcript = value ->> 'transcript' FROM json_each(?2), segments
     WHERE segment_id = value ->> 'segmentId' AND segment_words.rowid = segments.rowid AND ${IS_WANTED}`,
  );
  const spaced = said.map((one) => ({ ...one, transcript: toIndexed(one.transcript) }));
  const results = await db.batch([
    db
      .prepare(
        `INSERT OR IGNORE INTO unembedded_speech (segment_id, job_id)
         SELECT segment_id, ?1 FROM segments WHERE asset_id = ?2 AND ${IS_WANTED} AND (
           segment_id IN (SELECT value FROM json_each(?3))
           OR EXISTS (SELECT 1 FROM unembedded_speech AS left WHERE left.segment_id = segments.segment_id)
         )`,
      )
      .bind(jobId, asset.assetId, JSON.stringify(said.map(({ segmentId }) => segmentId))),
    ...inChunks(said).map((chunk) => setWords.bind(jobId, chunk)),
    ...inChunks(spaced).map((chunk) => indexWords.bind(jobId, chunk)),
    db
      .prepare(
        `INSERT INTO transcripts (asset_id, language, source, cues, created_at)
         SELECT ?2, ?3, 'upload', ?4, ?5 WHERE ${IS_WANTED}
         ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
           cues = excluded.cues, problem = NULL, created_at = excluded.created_at`,
      )
      .bind(jobId, asset.assetId, language, cues, now),
    db
      .prepare(
        `UPDATE assets SET transcript_job = ?1, warnings = ?3, updated_at = ?4
         WHERE asset_id = ?2 AND ${IS_WANTED}`,
      )
      .bind(jobId, asset.assetId, JSON.stringify(warnings), now),
  ]);
  return results.at(-1)!.meta.changes > 0;
}

export interface Unembedded {
  /** The job that put in the words which these are. */
  words: JobId | null;
  said: Said[];
  /** How many there are in all. */
  left: number;
}

/** Segments whose vectors must follow what the job has changed, with the words that they have now. */
export async function listUnembedded(
  db: D1Database,
  assetId: AssetId,
  jobId: JobId,
  limit: number,
): Promise<Unembedded> {
  const [words, said, left] = await db.batch([
    db.prepare("SELECT transcript_job AS words FROM assets WHERE asset_id = ?").bind(assetId),
    db
      .prepare(
        `SELECT segment_id AS segmentId, transcript FROM unembedded_speech JOIN segments USING (segment_id)
         WHERE job_id = ? LIMIT ?`,
      )
      .bind(jobId, limit),
    db.prepare("SELECT COUNT(*) AS left FROM unembedded_speech WHERE job_id = ?").bind(jobId),
  ]);
  return {
    words: (words!.results[0] as Pick<Unembedded, "words"> | undefined)?.words ?? null,
    said: said!.results as Said[],
    left: (left!.results[0] as Pick<Unembedded, "left">).left,
  };
}

/**
 * The vectors of segments are those of their words, as `listUnembedded` gave them: the job, and jobs that
 * nobody works on any more, needn't look at them again. Changes nothing where the words have changed since.
 */
export async function setEmbedded(
  db: D1Database,
  { assetId, indexId }: Pick<Asset, "assetId" | "indexId">,
  jobId: JobId,
  { words, said }: Unembedded,
): Promise<void> {
  const ids = JSON.stringify(said.map(({ segmentId }) => segmentId));
  await db.batch([
    db
      .prepare(
        `DELETE FROM unembedded_speech WHERE segment_id IN (SELECT value FROM json_each(?2))
           AND EXISTS (SELECT 1 FROM assets WHERE asset_id = ?3 AND transcript_job IS ?4)
           AND (job_id = ?5 OR ${IS_LEFT})`,
      )
      .bind(Date.now(), ids, assetId, words, jobId),
    db.prepare("UPDATE indices SET revision = revision + 1 WHERE index_id = ?").bind(indexId),
  ]);
}

/**
 * Lays the words of an asset's present transcript over segments again, full text included. The segments whose
 * vectors must follow, and those that earlier jobs left behind, become the job's `listUnembedded`. Changes
 * nothing where another transcript was put in meanwhile.
 */
export async function laySpeech(
  db: D1Database,
  { assetId, transcriptJob }: Asset,
  jobId: JobId,
  said: Said[],
): Promise<void> {
  const isSame = "EXISTS (SELECT 1 FROM assets WHERE asset_id = ?2 AND transcript_job IS ?3)";
  const setWords = db.prepare(
    `UPDATE segments SET transcript = value ->> 'transcript' FROM json_each(?1)
     WHERE segment_id = value ->> 'segmentId' AND ${isSame}`,
  );
  const indexWords = db.prepare(
    `UPDATE segment_words SET transcript = value ->> 'transcript' FROM json_each(?1), segments
     WHERE segment_id = value ->> 'segmentId' AND segment_words.rowid = segments.rowid AND ${isSame}`,
  );
  const spaced = said.map((one) => ({ ...one, transcript: toIndexed(one.transcript) }));
  await db.batch([
    db
      .prepare(
        `INSERT OR IGNORE INTO unembedded_speech (segment_id, job_id)
         SELECT segment_id, ?5 FROM segments WHERE asset_id = ?2 AND ${isSame} AND (
           segment_id IN (SELECT value FROM json_each(?4)) OR EXISTS (
             SELECT 1 FROM unembedded_speech
             WHERE unembedded_speech.segment_id = segments.segment_id AND ${IS_LEFT}
           )
         )`,
      )
      .bind(
        Date.now(),
        assetId,
        transcriptJob,
        JSON.stringify(said.map(({ segmentId }) => segmentId)),
        jobId,
      ),
    ...inChunks(said).map((chunk) => setWords.bind(chunk, assetId, transcriptJob)),
    ...inChunks(spaced).map((chunk) => indexWords.bind(chunk, assetId, transcriptJob)),
  ]);
}
