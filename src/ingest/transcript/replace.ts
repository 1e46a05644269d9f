import { MODELS } from "../../config.ts";
import { AppError, type Failure } from "../../errors.ts";
import type { AssetId, JobId, VectorId } from "../../ids.ts";
import { isAssetLive } from "../../store/asset-changes.ts";
import { getAsset } from "../../store/d1/assets.ts";
import { recountBytes } from "../../store/d1/quotas.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegments } from "../../store/index-database/segments.ts";
import {
  commitTranscript,
  listAbandonedJobs,
  listUnembedded,
  listUnembeddedJobs,
  setEmbedded,
  setSegmentTranscripts,
  speechLanguage,
} from "../../store/transcript-replacement.ts";
import { deleteCues, getTranscript } from "../../store/transcripts.ts";
import { vectorPair } from "../../store/vectorize/vector-pairs.ts";
import { deleteVectors, vectorId } from "../../store/vectorize/vectors.ts";
import type { Asset, AssetRef, Segment } from "../../types.ts";
import { getTimedCues, transcriptBySegment } from "../steps/align-transcript.ts";
import { embedTexts, replaceVectors } from "../steps/embed.ts";
import { isTranscriptWarning } from "./cue-times.ts";

/** A transcript to put in. Its cues are stored under the job's id. */
interface Replacement {
  jobId: JobId;
  assetId: AssetId;
  language: string | null;
  warnings: Failure[];
}

/**
 * Replaces a video's transcript: its record, then the transcripts of segments with their full text,
 * then the vectors of the changed segments. May run twice, start over at any point and run beside
 * another replacement: whoever has written a vector checks afterwards that the transcript is still
 * the one it embedded. Throws `conflict` if the job was cancelled or the video deleted, and what
 * the model throws.
 */
export async function replaceTranscript(
  env: Env,
  { jobId, assetId, language, warnings: ownWarnings }: Replacement,
  onProgress: (share: number) => Promise<unknown>,
): Promise<{ video_id: string; cues: number; segments: number }> {
  const asset = await getAsset(env.DB, assetId);
  if (!asset) throw replacementCancelled();
  const db = indexDatabase(env, asset);
  const segments = await listSegments(db, assetId);
  const cues = await getTimedCues(env, asset, jobId);
  if (cues.length === 0) throw replacementCancelled();
  const warnings = [...(await withoutTranscriptWarnings(env.DB, asset)), ...ownWarnings];
  const change = { assetId, jobId, language, cueCount: cues.length, warnings };
  const revision = await commitTranscript(env.DB, change);
  if (revision === null) throw replacementCancelled();
  const transcripts = transcriptBySegment(asset, segments, cues);
  const changed = transcripts.filter(({ transcript }, i) => transcript !== segments[i]!.transcript);
  const current = { assetId, revision, language: speechLanguage(language, transcripts) };
  const earlierJobs = await listUnembeddedJobs(db, assetId);
  await setSegmentTranscripts(db, current, jobId, changed, earlierJobs);
  if (asset.transcriptJobId !== jobId) await deleteCues(env.MEDIA, asset, asset.transcriptJobId);
  const reembeddedCount = await reembedSpeech(env, asset, jobId, segments, onProgress);
  return { video_id: assetId, cues: cues.length, segments: reembeddedCount };
}

/** Updates the vectors that a job, cancelled since, has left outdated. */
export async function resumeReembedding(env: Env, assetId: AssetId, jobId: JobId): Promise<void> {
  const asset = await getAsset(env.DB, assetId);
  if (!asset) return;
  const segments = await listSegments(indexDatabase(env, asset), assetId);
  await reembedSpeech(env, asset, jobId, segments);
}

/** Deletes the cues of an ended job, unless these are the video's transcript. Counts the bytes. */
export async function deleteUnusedCues(env: Env, ref: AssetRef, jobId: JobId): Promise<void> {
  const asset = await getAsset(env.DB, ref.assetId);
  if (asset?.transcriptJobId !== jobId) await deleteCues(env.MEDIA, ref, jobId);
  await recountBytes(env, ref);
}

/** Returns an asset's warnings without those about its earlier transcript or its speech. */
async function withoutTranscriptWarnings(db: D1Database, asset: Asset): Promise<Failure[]> {
  const asrError = (await getTranscript(db, asset.assetId))?.error;
  return asset.warnings.filter(
    (warning) => warning.message !== asrError?.message && !isTranscriptWarning(warning),
  );
}

/**
 * Updates the speech vectors that a job has to update, batch by batch, and deletes those of
 * segments without speech. Returns their number. Throws `conflict` if the video was deleted
 * meanwhile.
 */
async function reembedSpeech(
  env: Env,
  asset: Asset,
  jobId: JobId,
  segments: Segment[],
  onProgress?: (share: number) => Promise<unknown>,
): Promise<number> {
  const db = indexDatabase(env, asset);
  const pair = vectorPair(env, asset);
  const byId = new Map(segments.map((segment) => [segment.segmentId, segment]));
  let total = 0;
  for (;;) {
    const batch = await listUnembedded(db, asset.assetId, jobId, MODELS.embedText.batchSize);
    if (batch.segmentTranscripts.length === 0) break;
    total = Math.max(total, batch.remainingCount);
    await onProgress?.(1 - batch.remainingCount / total);
    const changed = batch.segmentTranscripts.map((current) => ({
      ...byId.get(current.segmentId)!,
      ...current,
    }));
    const vectors = await embedTexts(env.AI, changed, ["speech"]);
    await replaceVectors(db, pair.text, asset, vectors, changed.map(speechId));
    const abandoned = await listAbandonedJobs(env.DB, db, asset.assetId, Date.now());
    await setEmbedded(db, asset.assetId, [jobId, ...abandoned], batch);
  }
  if (!(await isAssetLive(env.DB, asset.assetId))) {
    await deleteVectors(pair.text, segments.map(speechId)); // written after the asset's deletion
    throw replacementCancelled();
  }
  return total;
}

function speechId({ segmentId }: Pick<Segment, "segmentId">): VectorId {
  return vectorId(segmentId, "speech");
}

function replacementCancelled(): AppError {
  return new AppError("conflict", "The video was deleted, or the job cancelled.");
}
