import { CONNECTIONS, mapAtOnce } from "../at-once.ts";
import type { Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import type { Asset, Cue } from "../types.ts";
import { heardKey, transcriptKey } from "./media.ts";
import { parseColumns } from "./rows.ts";

export interface TranscriptSummary {
  language: string | null;
  source: "upload" | "asr" | "platform";
  cues: number;
  /** Why some or all of the sound could not be heard. */
  problem: Failure | null;
}

/** What was heard in one piece of a video's sound. */
export interface HeardPiece {
  language: string | null;
  cues: Cue[];
  problem: Failure | null;
}

/** Writes the transcript that an ingest was given or has heard. */
export async function putTranscript(
  env: Pick<Env, "DB" | "MEDIA">,
  asset: Asset,
  cues: Cue[],
  { language, source, problem }: Omit<TranscriptSummary, "cues">,
): Promise<void> {
  await putCues(env.MEDIA, asset, cues, asset.transcriptJob);
  await env.DB.prepare(
    `INSERT INTO transcripts (asset_id, language, source, cues, problem, created_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
       cues = excluded.cues, problem = excluded.problem, created_at = excluded.created_at`,
  )
    .bind(
      asset.assetId,
      language,
      source,
      cues.length,
      problem && JSON.stringify(problem),
      Date.now(),
    )
    .run();
}

export async function getTranscript(
  db: D1Database,
  assetId: AssetId,
): Promise<TranscriptSummary | null> {
  const row = await db
    .prepare("SELECT language, source, cues, problem FROM transcripts WHERE asset_id = ?")
    .bind(assetId)
    .first<TranscriptSummary>();
  return row && parseColumns(row, ["problem"]);
}

/** Keeps the cues that `job` is to put in, or, null, that the ingest did. */
export async function putCues(
  bucket: R2Bucket,
  asset: Asset,
  cues: Cue[],
  job: JobId | null,
): Promise<void> {
  await bucket.put(transcriptKey(asset, job), JSON.stringify(cues));
}

/** How many cues the present transcript has, unless another was put in meanwhile. */
export async function setCueCount(
  db: D1Database,
  { assetId, transcriptJob }: Asset,
  cues: number,
): Promise<void> {
  await db
    .prepare(
      `UPDATE transcripts SET cues = ?1 WHERE asset_id = ?2
         AND EXISTS (SELECT 1 FROM assets WHERE asset_id = ?2 AND transcript_job IS ?3)`,
    )
    .bind(cues, assetId, transcriptJob)
    .run();
}

/** The cues of an asset, or those that `job` is to put in, in order; empty where there are none. */
export async function getCues(
  bucket: R2Bucket,
  asset: Asset,
  job = asset.transcriptJob,
): Promise<Cue[]> {
  const object = await bucket.get(transcriptKey(asset, job));
  const cues =
    (await object?.json<{ start: number | null; end: number | null; text: string }[]>()) ?? [];
  return cues.map(({ start, end, text }) => ({ start: start ?? NaN, end: end ?? NaN, text }));
}

export async function deleteCues(
  bucket: R2Bucket,
  owner: Pick<Asset, "accountId" | "indexId" | "assetId">,
  job: JobId | null,
): Promise<void> {
  await bucket.delete(transcriptKey(owner, job));
}

export async function putHeard(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  heard: HeardPiece,
): Promise<void> {
  await bucket.put(heardKey(asset, part), JSON.stringify(heard));
}

/** Whether a video's sound has been listened to. */
export async function isHeard(bucket: R2Bucket, asset: Asset): Promise<boolean> {
  return (await bucket.head(heardKey(asset, 0))) !== null;
}

/** What was heard in the first `count` pieces, in order. */
export async function listHeard(
  bucket: R2Bucket,
  asset: Asset,
  count: number,
): Promise<HeardPiece[]> {
  const parts = Array.from({ length: count }, (_, part) => part);
  return mapAtOnce(parts, CONNECTIONS, async (part) => {
    const object = await bucket.get(heardKey(asset, part));
    return object!.json<HeardPiece>();
  });
}
