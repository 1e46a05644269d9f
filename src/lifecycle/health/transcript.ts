import { AppError } from "../../errors.ts";
import { getAsrCues, transcriptBySegment } from "../../ingest/steps/align-transcript.ts";
import { countAudioChunks } from "../../ingest/transcript/audio-chunks.ts";
import { resumeReembedding } from "../../ingest/transcript/replace.ts";
import { getArchive } from "../../store/archive.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegments } from "../../store/index-database/segments.ts";
import { archivedCues } from "../../store/r2/archive-record.ts";
import {
  asrPrefix,
  listObjects,
  type StoredObject,
  transcriptKey,
} from "../../store/r2/object-keys.ts";
import { listAbandonedJobs, setSegmentTranscripts } from "../../store/transcript-replacement.ts";
import { getCues, getTranscript, putCues, setCueCount } from "../../store/transcripts.ts";
import type { Asset, Cue, Segment } from "../../types.ts";
import { type Finding, findingAbout } from "../findings.ts";
import type { Repair, RepairContext } from "../repair-context.ts";

/** Checks that a video's cues are stored, and that its segments have the text of their cues. */
export async function inspectTranscript(
  env: Env,
  asset: Asset,
  objects: StoredObject[],
): Promise<Finding[]> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  if (!transcript || transcript.cues === 0) return [];
  const key = transcriptKey(asset, asset.transcriptJobId);
  if (!objects.some((object) => object.key === key)) {
    return [{ code: "transcript_missing", message: "The stored transcript is gone.", about: [] }];
  }
  const mismatched = await mismatchedSegments(env, asset);
  return findingAbout(
    "transcript_mismatch",
    mismatched.map(({ segmentId }) => segmentId),
    "One segment doesn't have the transcript's text.",
    (count) => `${count} segments don't have the transcript's text.`,
  );
}

/** Lists the segments whose text isn't that of their cues, with the text of the cues. */
async function mismatchedSegments(
  env: Pick<Env, "INDEX_DATABASE" | "MEDIA">,
  asset: Asset,
): Promise<Pick<Segment, "segmentId" | "transcript">[]> {
  const [segments, cues] = await Promise.all([
    listSegments(indexDatabase(env, asset), asset.assetId),
    getCues(env.MEDIA, asset),
  ]);
  const aligned = transcriptBySegment(asset, segments, cues);
  return aligned.filter(({ transcript }, i) => transcript !== segments[i]!.transcript);
}

/**
 * Restores missing cues from the archive record or the recognised speech, or makes one for each
 * segment from its text. Throws `source_missing` if there is none of these.
 */
export const rebuildTranscript: Repair = async (context) => {
  const { env, asset } = context;
  const stored = (await getArchivedCues(context)) ?? (await getRecognizedCues(context));
  const cues = stored ?? (await cuesFromSegments(context));
  if (cues.length === 0) {
    throw new AppError("source_missing", "The transcript is gone: give it again.");
  }
  await putCues(env.MEDIA, asset, cues, asset.transcriptJobId);
  await setCueCount(env.DB, asset, cues.length);
  await realignTranscript(context, []);
  return stored ? null : "The times of its cues are lost: there is one for each segment.";
};

/** Writes the text of the cues into segments and full text, then updates the speech vectors. */
export const realignTranscript: Repair = async (context) => {
  await updateSpeech(context, await mismatchedSegments(context.env, context.asset));
  return null;
};

/** Writes transcripts of segments, and updates their vectors and those that ended jobs left. */
export async function updateSpeech(
  { env, asset, jobId }: RepairContext,
  transcripts: Pick<Segment, "segmentId" | "transcript">[],
): Promise<void> {
  const { assetId, transcriptRevision: revision } = asset;
  const db = indexDatabase(env, asset);
  const abandoned = await listAbandonedJobs(env.DB, db, assetId, Date.now());
  await setSegmentTranscripts(db, { assetId, revision }, jobId, transcripts, abandoned);
  await resumeReembedding(env, assetId, jobId);
}

/** Returns the cues of the archive record; null unless they are those of the present transcript. */
async function getArchivedCues({ env, asset }: RepairContext): Promise<Cue[] | null> {
  const record = await getArchive(env.MEDIA, asset);
  if (!record?.transcript || record.location.transcript_job_id !== asset.transcriptJobId)
    return null;
  return archivedCues(record);
}

/** Returns the cues of the recognised speech; null unless the results of all chunks are stored. */
async function getRecognizedCues({ env, asset }: RepairContext): Promise<Cue[] | null> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  const chunkCount = countAudioChunks(asset);
  if (transcript?.source !== "asr" || chunkCount === 0) return null;
  const stored = await listObjects(env.MEDIA, asrPrefix(asset));
  return stored.length < chunkCount ? null : getAsrCues(env, asset);
}

async function cuesFromSegments({ env, asset }: RepairContext): Promise<Cue[]> {
  const segments = await listSegments(indexDatabase(env, asset), asset.assetId);
  return segments
    .filter(({ transcript }) => transcript !== "")
    .map(({ startMs, endMs, transcript }) => {
      return { start: startMs! / 1000, end: endMs! / 1000, text: transcript };
    });
}
