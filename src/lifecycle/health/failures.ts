import { INGEST } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { putAsrTranscript } from "../../ingest/steps/align-transcript.ts";
import { describeSegments } from "../../ingest/steps/describe.ts";
import { putVectors } from "../../ingest/steps/embed.ts";
import { recordSummary } from "../../ingest/steps/finish.ts";
import { recognizeSpeech } from "../../ingest/steps/recognize-speech.ts";
import { countAudioChunks } from "../../ingest/transcript/audio-chunks.ts";
import type { SegmentHealth } from "../../store/health.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegmentsById } from "../../store/index-database/segments.ts";
import { getTranscript, listRecognized } from "../../store/transcripts.ts";
import type { Asset, Segment } from "../../types.ts";
import { type Finding, findingAbout } from "../findings.ts";
import type { Repair } from "../repair-context.ts";
import { inBatches } from "../slice.ts";
import { realignTranscript } from "./transcript.ts";

/** A repair is one attempt: an error that may pass leaves the finding to the next traversal. */
const ATTEMPT = 1;

/** Finds what an ingest could neither describe nor transcribe, which its warnings tell, too. */
export async function inspectFailures(
  { DB }: Pick<Env, "DB">,
  asset: Asset,
  segments: SegmentHealth[],
): Promise<Finding[]> {
  const undescribed = segments.filter(({ described }) => !described);
  const error = asset.hasAudio ? (await getTranscript(DB, asset.assetId))?.error : null;
  return [
    ...findingAbout(
      "keyframes_undescribed",
      undescribed.map(({ segmentId }) => segmentId),
      "One keyframe isn't described.",
      (count) => `${count} keyframes aren't described.`,
    ),
    ...(error ? [{ code: "sound_unrecognized" as const, message: error.message, about: [] }] : []),
  ];
}

/** Describes keyframes and embeds their segments again. Throws the first error that remains. */
export const describeKeyframes: Repair = async (context, segmentIds) => {
  const { env, asset, checkpoint } = context;
  const db = indexDatabase(env, asset);
  const list = (ids: string[]) => listSegmentsById(db, asset.assetId, ids);
  const remaining: Segment["error"][] = [];
  const segments = await list(segmentIds);
  await inBatches(segments, INGEST.segmentsPerPart, checkpoint, async (batch) => {
    await describeSegments(env, asset, batch, ATTEMPT);
    const described = await list(batch.map(({ segmentId }) => segmentId));
    await putVectors(env, asset, described);
    remaining.push(...described.map(({ error }) => error));
  });
  await recordSummary(env, asset);
  throwRemaining(remaining);
  return null;
};

/** Recognises the audio chunks that failed. Throws the first error that remains. */
export const recognizeFailedSpeech: Repair = async (context) => {
  const { env, asset, checkpoint } = context;
  const chunkCount = countAudioChunks(asset);
  const before = await listRecognized(env.MEDIA, asset, chunkCount);
  const parts = before.flatMap(({ error }, part) => (error ? [part] : []));
  await inBatches(parts, 1, checkpoint, async ([part]) =>
    recognizeSpeech(env, asset, part!, ATTEMPT),
  );
  if ((await getTranscript(env.DB, asset.assetId))?.source !== "asr") return null; // uploaded since
  await putAsrTranscript(env, asset);
  await realignTranscript(context, []);
  await recordSummary(env, asset);
  const after = await listRecognized(env.MEDIA, asset, chunkCount);
  throwRemaining(after.map(({ error }) => error));
  return null;
};

function throwRemaining(errors: (Segment["error"] | null)[]): void {
  const first = errors.find((error) => error !== null);
  if (first) throw new AppError(first.code, first.message);
}
