import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { toVideoFps } from "../cues.ts";
import type { Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import type { Asset, AssetRef, Cue } from "../types.ts";
import { asrKey, transcriptKey } from "./r2/object-keys.ts";
import { first, parseColumns, run, sql } from "./sql.ts";

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
  isFrameBased = false,
): Promise<void> {
  await putCues(env.MEDIA, asset, cues, asset.transcriptJobId, isFrameBased);
  await run(
    env.DB,
    sql`INSERT INTO transcripts (asset_id, language, source, cues, error, created_at)
      VALUES (${asset.assetId}, ${language}, ${source}, ${cues.length},
        ${error && JSON.stringify(error)}, ${Date.now()})
      ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
        cues = excluded.cues, error = excluded.error, created_at = excluded.created_at`,
  );
}

export async function getTranscript(
  db: D1Database,
  assetId: AssetId,
): Promise<TranscriptSummary | null> {
  const row = await first<TranscriptSummary>(
    db,
    sql`SELECT language, source, cues, error FROM transcripts WHERE asset_id = ${assetId}`,
  );
  return row && parseColumns(row, ["error"]);
}

/**
 * Stores the cues of the transcript uploaded by `job`, or of the ingest's transcript (null).
 * `isFrameBased`: their times are frames at `NOMINAL_FPS`.
 */
export async function putCues(
  bucket: R2Bucket,
  asset: Asset,
  cues: Cue[],
  job: JobId | null,
  isFrameBased = false,
): Promise<void> {
  const content = isFrameBased ? { frames: cues } : cues;
  await bucket.put(transcriptKey(asset, job), JSON.stringify(content));
}

/** Sets the number of cues of a transcript, unless it was replaced meanwhile. */
export async function setCueCount(
  db: D1Database,
  { assetId, transcriptJobId }: Asset,
  cues: number,
): Promise<void> {
  await run(
    db,
    sql`UPDATE transcripts SET cues = ${cues} WHERE asset_id = ${assetId}
      AND EXISTS (SELECT 1 FROM assets WHERE asset_id = ${assetId}
        AND transcript_job_id IS ${transcriptJobId})`,
  );
}

/**
 * Returns the cues of an asset, or of the transcript uploaded by `job`, in order; empty if there
 * are none. JSON stores NaN as null. Frames have no time until the video's frame rate is known.
 */
export async function getCues(
  bucket: R2Bucket,
  asset: Asset,
  job = asset.transcriptJobId,
): Promise<Cue[]> {
  const object = await bucket.get(transcriptKey(asset, job));
  const content = (await object?.json<StoredCue[] | { frames: StoredCue[] }>()) ?? [];
  const stored = "frames" in content ? content.frames : content;
  const cues = stored.map(({ start, end, text }) => {
    return { start: start ?? NaN, end: end ?? NaN, text };
  });
  return "frames" in content ? toVideoFps(cues, asset.fps ?? NaN) : cues;
}

interface StoredCue {
  start: number | null;
  end: number | null;
  text: string;
}

export async function deleteCues(
  bucket: R2Bucket,
  asset: AssetRef,
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
