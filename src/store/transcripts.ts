import type { Asset, Cue } from "../types.ts";
import { transcriptKey } from "./media.ts";

export interface TranscriptSummary {
  language: string | null;
  source: "upload" | "asr" | "platform";
  cues: number;
}

export async function putTranscript(
  env: Pick<Env, "DB" | "MEDIA">,
  asset: Asset,
  cues: Cue[],
  source: TranscriptSummary["source"],
): Promise<void> {
  await env.MEDIA.put(transcriptKey(asset), JSON.stringify(cues));
  await env.DB.prepare(
    `INSERT INTO transcripts (asset_id, language, source, cues, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET language = excluded.language, source = excluded.source,
       cues = excluded.cues, created_at = excluded.created_at`,
  )
    .bind(asset.assetId, asset.language, source, cues.length, Date.now())
    .run();
}

export function getTranscript(db: D1Database, assetId: string): Promise<TranscriptSummary | null> {
  return db
    .prepare("SELECT language, source, cues FROM transcripts WHERE asset_id = ?")
    .bind(assetId)
    .first<TranscriptSummary>();
}

/** The cues of an asset, in order; empty where it has no transcript. */
export async function getCues(bucket: R2Bucket, asset: Asset): Promise<Cue[]> {
  const object = await bucket.get(transcriptKey(asset));
  return object ? object.json<Cue[]>() : [];
}
