import { isAudioOnly } from "../../asset-kind.ts";
import type { Failure } from "../../errors.ts";
import type { JobId } from "../../ids.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegments } from "../../store/index-database/segments.ts";
import { updateTranscripts } from "../../store/transcript-replacement.ts";
import {
  type RecognizedChunk,
  getCues,
  getTranscript,
  hasRecognizedSpeech,
  listRecognized,
  putCues,
  putTranscript,
} from "../../store/transcripts.ts";
import type { Asset, Cue, Segment } from "../../types.ts";
import type { FanOut } from "../state.ts";
import { countAudioChunks, mergeCues } from "../transcript/audio-chunks.ts";
import {
  assignCueTimes,
  speechIntervals,
  splitLongCues,
  textByRange,
} from "../transcript/cue-times.ts";
import { segmentAudioOnly } from "./segment.ts";

/**
 * Assigns a video's transcript, submitted or recognised, to its segments. Those of sound without
 * pictures are made here, of the cues.
 */
export async function alignTranscript(env: Env, asset: Asset): Promise<FanOut> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  const isSubmitted = transcript !== null && transcript.source !== "asr";
  const cues = isSubmitted
    ? await getTimedCues(env, asset, asset.transcriptJobId)
    : await putAsrTranscript(env, asset);
  const fanOut = isAudioOnly(asset) ? await segmentAudioOnly(env, asset, cues) : {};
  const db = indexDatabase(env, asset);
  const segments = await listSegments(db, asset.assetId);
  const language = (isSubmitted ? transcript : await getTranscript(env.DB, asset.assetId))
    ?.language;
  const transcripts = transcriptBySegment(asset, segments, cues);
  await updateTranscripts(db, asset, transcripts, language ?? null);
  return fanOut;
}

/** Returns the transcript of each segment of a video. */
export function transcriptBySegment(
  asset: Asset,
  segments: Pick<Segment, "segmentId" | "startMs" | "endMs">[],
  cues: Cue[],
): Pick<Segment, "segmentId" | "transcript">[] {
  const ranges = segments.map(({ startMs, endMs }) => {
    return { start: startMs! / 1000, end: endMs! / 1000 };
  });
  const texts = textByRange(splitLongCues(cues, asset.durationMs / 1000), ranges);
  return segments.map(({ segmentId }, i) => ({ segmentId, transcript: texts[i]! }));
}

/**
 * Returns the cues that a job submitted or, for null, that came with the video. Plain text gets its
 * times here and is stored with them: the times of the recognised speech, or the whole video
 * without any.
 */
export async function getTimedCues(env: Env, asset: Asset, jobId: JobId | null): Promise<Cue[]> {
  const cues = await getCues(env.MEDIA, asset, jobId);
  if (cues.every(({ start }) => !Number.isNaN(start))) return cues;
  const timedCues = assignCueTimes(cues, await listSpeechIntervals(env, asset));
  await putCues(env.MEDIA, asset, timedCues, jobId);
  return timedCues;
}

async function listSpeechIntervals(env: Env, asset: Asset) {
  const wholeVideo = [{ start: 0, end: asset.durationMs / 1000, weight: 1 }];
  if (!(await hasRecognizedSpeech(env.MEDIA, asset))) return wholeVideo;
  const chunks = await listRecognized(env.MEDIA, asset, countAudioChunks(asset));
  const intervals = speechIntervals(chunks.flatMap(({ cues }) => cues));
  return intervals.length > 0 ? intervals : wholeVideo;
}

export async function putAsrTranscript(env: Env, asset: Asset): Promise<Cue[]> {
  const chunkCount = countAudioChunks(asset);
  if (chunkCount === 0) return [];
  const chunks = await listRecognized(env.MEDIA, asset, chunkCount);
  const cues = mergeCues(chunks.map((chunk) => chunk.cues));
  const language = asset.language ?? dominantLanguage(chunks);
  const error = summarizeErrors(chunks);
  await putTranscript(env, asset, cues, { source: "asr", language, error });
  if (language !== null) await updateProperties(env.DB, asset.assetId, { language });
  return cues;
}

function dominantLanguage(chunks: RecognizedChunk[]): string | null {
  const cueCounts = new Map<string, number>();
  for (const { language, cues } of chunks) {
    if (language !== null) cueCounts.set(language, (cueCounts.get(language) ?? 0) + cues.length);
  }
  const [dominant] = [...cueCounts].toSorted((a, b) => b[1] - a[1]);
  return dominant && dominant[1] > 0 ? dominant[0] : null;
}

/** Summarises the failures of chunks by the first one, null without any. */
function summarizeErrors(chunks: RecognizedChunk[]): Failure | null {
  const errors = chunks.flatMap(({ error }) => error ?? []);
  const [first] = errors;
  if (!first) return null;
  const share =
    errors.length === chunks.length
      ? "The audio"
      : `${errors.length} of ${chunks.length} parts of the audio`;
  return { code: first.code, message: `${share} can't be transcribed. ${first.message}` };
}
