import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { parseStoredCue, type StoredCue, toVideoFps } from "../cues.ts";
import type { Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import type { Asset, AssetRef, Cue } from "../types.ts";
import { asrKey, getJson, transcriptKey } from "./r2/object-keys.ts";
import { newRow, parseColumns, d1 } from "./sql.ts";

export interface TranscriptSummary {
  language: string | null;
  source: "upload" | "asr" | "platform";
  /** Number of cues. */
  cues: number;
  /** Why some or all of the audio could not be transcribed. */
  error: Failure | null;
}

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
  const { assetId } = asset;
  const row = { assetId, language, source, cues: cues.length, error, createdAt: Date.now() };
  await d1(env.DB).run`INSERT INTO ${newRow("transcripts", row)} WHERE true
      ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
        cues = excluded.cues, error = excluded.error, created_at = excluded.created_at`;
}

export async function getTranscript(db: D1Database, assetId: AssetId) {
  const row = await d1(db).first<TranscriptSummary>`
    SELECT language, source, cues, error FROM transcripts WHERE asset_id = ${assetId}`;
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

/**
 * Returns the cues of an asset, or of the transcript uploaded by `job`, in order; empty if there
 * are none. JSON stores NaN as null. Frames have no time until the video's frame rate is known.
 */
export async function getCues(bucket: R2Bucket, asset: Asset, job = asset.transcriptJobId) {
  const key = transcriptKey(asset, job);
  const content = (await getJson<StoredCue[] | { frames: StoredCue[] }>(bucket, key)) ?? [];
  const stored = "frames" in content ? content.frames : content;
  const cues = stored.map(parseStoredCue);
  return "frames" in content ? toVideoFps(cues, asset.fps ?? NaN) : cues;
}

export async function deleteCues(bucket: R2Bucket, asset: AssetRef, job: JobId | null) {
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

export async function hasRecognizedSpeech(bucket: R2Bucket, asset: Asset): Promise<boolean> {
  return (await bucket.head(asrKey(asset, 0))) !== null;
}

/** Lists the recognised speech of the first `count` audio chunks, in order. */
export async function listRecognized(bucket: R2Bucket, asset: Asset, count: number) {
  const parts = Array.from({ length: count }, (_, part) => part);
  return mapConcurrent(parts, CONNECTIONS, async (part) => {
    return (await getJson<RecognizedChunk>(bucket, asrKey(asset, part)))!;
  });
}
