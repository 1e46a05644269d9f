import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import type { Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import type { Asset, Cue } from "../types.ts";
import { asrKey, transcriptKey } from "./object-keys.ts";
import { parseColumns } from "./sql.ts";

/** A transcript without its cues. */
export interface TranscriptSummary {
  language: string | null;
  source: "upload" | "asr" | "platform";
  /** Number of cues. */
  cues: number;
  /** Why some or all of the audio could not be transcribed. */
  error: Failure | null;
}

/** Speech that was recognised in one audio chunk. */
export interface RecognizedChunk {
  language: string | null;
  cues: Cue[];
  error: Failure | null;
}

/** Writes the transcript of an ingest: given with the video, or recognised. */
export async function putTranscript(
  env: Pick<Env, "DB" | "MEDIA">,
  asset: Asset,
  cues: Cue[],
  { language, source, error }: Omit<TranscriptSummary, "cues">,
): Promise<void> {
  await putCues(env.MEDIA, asset, cues, asset.transcriptJobId);
  await env.DB.prepare(
    `INSERT INTO transcripts (asset_id, language, source, cues, error, created_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
       cues = excluded.cues, error = excluded.error, created_at = excluded.created_at`,
  )
    .bind(asset.assetId, language, source, cues.length, error && JSON.stringify(error), Date.now())
    .run();
}

export async function getTranscript(
  db: D1Database,
  assetId: AssetId,
): Promise<TranscriptSummary | null> {
  const row = await db
    .prepare("SELECT language, source, cues, error FROM transcripts WHERE asset_id = ?")
    .bind(assetId)
    .first<TranscriptSummary>();
  return row && parseColumns(row, ["error"]);
}

/** Stores the cues of the transcript uploaded by `job`, or of the ingest's transcript (null). */
export async function putCues(
  bucket: R2Bucket,
  asset: Asset,
  cues: Cue[],
  job: JobId | null,
): Promise<void> {
  await bucket.put(transcriptKey(asset, job), JSON.stringify(cues));
}

/** Sets the number of cues of a transcript, unless it was replaced meanwhile. */
export async function setCueCount(
  db: D1Database,
  { assetId, transcriptJobId }: Asset,
  cues: number,
): Promise<void> {
  await db
    .prepare(
      `UPDATE transcripts SET cues = ?1 WHERE asset_id = ?2
         AND EXISTS (SELECT 1 FROM assets WHERE asset_id = ?2 AND transcript_job_id IS ?3)`,
    )
    .bind(cues, assetId, transcriptJobId)
    .run();
}

/**
 * Returns the cues of an asset, or of the transcript uploaded by `job`, in order; empty if there
 * are none. JSON stores NaN as null.
 */
export async function getCues(
  bucket: R2Bucket,
  asset: Asset,
  job = asset.transcriptJobId,
): Promise<Cue[]> {
  const object = await bucket.get(transcriptKey(asset, job));
  const cues =
    (await object?.json<{ start: number | null; end: number | null; text: string }[]>()) ?? [];
  return cues.map(({ start, end, text }) => ({ start: start ?? NaN, end: end ?? NaN, text }));
}

export async function deleteCues(
  bucket: R2Bucket,
  asset: Pick<Asset, "accountId" | "indexId" | "assetId">,
  job: JobId | null,
): Promise<void> {
  await bucket.delete(transcriptKey(asset, job));
}

export async function putRecognized(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  recognized: RecognizedChunk,
): Promise<void> {
  await bucket.put(asrKey(asset, part), JSON.stringify(recognized));
}

/** Whether the speech of a video was recognised. */
export async function hasRecognizedSpeech(bucket: R2Bucket, asset: Asset): Promise<boolean> {
  return (await bucket.head(asrKey(asset, 0))) !== null;
}

/** Lists the recognised speech of the first `count` audio chunks, in order. */
export async function listRecognized(
  bucket: R2Bucket,
  asset: Asset,
  count: number,
): Promise<RecognizedChunk[]> {
  const parts = Array.from({ length: count }, (_, part) => part);
  return mapConcurrent(parts, CONNECTIONS, async (part) => {
    const object = await bucket.get(asrKey(asset, part));
    return object!.json<RecognizedChunk>();
  });
}
