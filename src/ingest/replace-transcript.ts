import { MODELS } from "../config.ts";
import { AppError, type Failure } from "../errors.ts";
import type { AssetId, JobId } from "../ids.ts";
import { getAsset } from "../store/assets.ts";
import { isWanted } from "../store/removals.ts";
import { listSegments } from "../store/segments.ts";
import { listUnembedded, replaceSpeech, setEmbedded } from "../store/speech.ts";
import { deleteCues, getTranscript } from "../store/transcripts.ts";
import { deleteVectors, upsertVectors, vectorId } from "../store/vectors.ts";
import type { Asset, Segment } from "../types.ts";
import { embedWords } from "./embed.ts";
import { timedCues, wordsOver } from "./transcribe.ts";

type Owner = Pick<Asset, "accountId" | "indexId" | "assetId">;

/** A transcript that waits to be put in; its cues are kept under the job's name. */
interface Replacement {
  jobId: JobId;
  assetId: AssetId;
  language: string | null;
}

/**
 * Puts a transcript in the place of a video's present one. Words and full text change at once; the vectors
 * of the segments that say something else follow, so that each can be found by its new words all the while.
 * May run twice, from anywhere, and beside another: whoever has written a vector looks afterwards whether
 * the words are still those. Throws `conflict` where it isn't wanted any more, and what the model throws.
 */
export async function replaceTranscript(
  env: Env,
  { jobId, assetId, language }: Replacement,
  progressed: (share: number) => Promise<unknown>,
): Promise<{ video_id: string; cues: number; segments: number }> {
  const asset = await getAsset(env.DB, assetId);
  if (!asset) throw notWanted();
  const segments = await listSegments(env.DB, assetId, 0, Number.MAX_SAFE_INTEGER);
  const cues = await timedCues(env, asset, jobId);
  if (cues.length === 0) throw notWanted();
  const words = wordsOver(asset, segments, cues);
  const said = words.filter(({ transcript }, i) => transcript !== segments[i]!.transcript);
  const warnings = await warningsWithoutSound(env.DB, asset);
  const change = { asset, jobId, language, cues: cues.length, warnings, said };
  if (!(await replaceSpeech(env.DB, change))) throw notWanted();
  if (asset.transcriptJob !== jobId) await deleteCues(env.MEDIA, asset, asset.transcriptJob);
  const renewed = await renewVectors(env, asset, jobId, segments, progressed);
  return { video_id: assetId, cues: cues.length, segments: renewed };
}

/** Makes good the vectors from which a job was cut off that isn't wanted any more. */
export async function finishVectors(env: Env, assetId: AssetId, jobId: JobId): Promise<void> {
  const asset = await getAsset(env.DB, assetId);
  if (!asset) return;
  const segments = await listSegments(env.DB, assetId, 0, Number.MAX_SAFE_INTEGER);
  await renewVectors(env, asset, jobId, segments);
}

/** Deletes the cues of a job that is over, unless they are the video's. */
export async function forgetReplacement(env: Env, owner: Owner, jobId: JobId): Promise<void> {
  const asset = await getAsset(env.DB, owner.assetId);
  if (asset?.transcriptJob !== jobId) await deleteCues(env.MEDIA, owner, jobId);
}

/** That the sound can't be heard needs nobody's attention any more. */
async function warningsWithoutSound(db: D1Database, asset: Asset): Promise<Failure[]> {
  const problem = (await getTranscript(db, asset.assetId))?.problem;
  return asset.warnings.filter(({ message }) => message !== problem?.message);
}

/** How many segments there were to renew. */
async function renewVectors(
  env: Env,
  asset: Asset,
  jobId: JobId,
  segments: Segment[],
  progressed?: (share: number) => Promise<unknown>,
): Promise<number> {
  const byId = new Map(segments.map((segment) => [segment.segmentId, segment]));
  let total = 0;
  for (;;) {
    const next = await listUnembedded(env.DB, asset.assetId, jobId, MODELS.embedText.batch);
    if (next.said.length === 0) break;
    total = Math.max(total, next.left);
    await progressed?.(1 - next.left / total);
    const changed = next.said.map((said) => ({ ...byId.get(said.segmentId)!, ...said }));
    const vectors = await embedWords(env.AI, changed, ["speech"]);
    await upsertVectors(env.TEXT_VECTORS, vectors, asset.assetType);
    await deleteSpeech(
      env,
      changed.filter(({ transcript }) => transcript === ""),
    );
    await setEmbedded(env.DB, asset, jobId, next);
  }
  if (!(await isWanted(env.DB, asset.assetId))) {
    await deleteSpeech(env, segments); // written after the asset's own were deleted
    throw notWanted();
  }
  return total;
}

function deleteSpeech(env: Env, segments: Segment[]): Promise<void> {
  return deleteVectors(
    env.TEXT_VECTORS,
    segments.map(({ segmentId }) => vectorId(segmentId, "speech")),
  );
}

function notWanted(): AppError {
  return new AppError("conflict", "The video was deleted, or the job cancelled.");
}
