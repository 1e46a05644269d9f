import type { Failure } from "../errors.ts";
import type { JobId } from "../ids.ts";
import { updateFacts } from "../store/assets.ts";
import { listSegments, setSpokenWords } from "../store/segments.ts";
import {
  getCues,
  getTranscript,
  type HeardPiece,
  isHeard,
  listHeard,
  putCues,
  putTranscript,
} from "../store/transcripts.ts";
import type { Asset, Cue, Segment } from "../types.ts";
import { countPieces, joinCues } from "./pieces.ts";
import { spreadCues, timeCues, voiceOf, wordsWithin } from "./transcript.ts";

/** Lays the words that are spoken, given or heard, over the segments of a video. */
export async function layTranscript(env: Env, asset: Asset): Promise<void> {
  const given = await getTranscript(env.DB, asset.assetId);
  const isGiven = given !== null && given.source !== "asr";
  const cues = isGiven
    ? await timedCues(env, asset, asset.transcriptJob)
    : await joinHeard(env, asset);
  const segments = await listSegments(env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  await setSpokenWords(env.DB, wordsOver(asset, segments, cues));
}

/** What is spoken over each of a video's segments. */
export function wordsOver(
  asset: Asset,
  segments: Segment[],
  cues: Cue[],
): Pick<Segment, "segmentId" | "transcript">[] {
  const spans = segments.map(({ startMs, endMs }) => {
    return { start: startMs! / 1000, end: endMs! / 1000 };
  });
  const words = wordsWithin(spreadCues(cues, asset.durationMs / 1000), spans);
  return segments.map(({ segmentId }, i) => ({ segmentId, transcript: words[i]! }));
}

/**
 * The cues that were given, by a job or, null, with the video. A plain text gets its times here: those of
 * what was heard, or, where nobody has listened, of all the video.
 */
export async function timedCues(env: Env, asset: Asset, job: JobId | null): Promise<Cue[]> {
  const cues = await getCues(env.MEDIA, asset, job);
  if (cues.every(({ start }) => !Number.isNaN(start))) return cues;
  const timed = timeCues(cues, await listVoice(env, asset));
  await putCues(env.MEDIA, asset, timed, job);
  return timed;
}

async function listVoice(env: Env, asset: Asset) {
  const all = [{ start: 0, end: asset.durationMs / 1000, share: 1 }];
  if (!(await isHeard(env.MEDIA, asset))) return all;
  const pieces = await listHeard(env.MEDIA, asset, countPieces(asset));
  const heard = voiceOf(pieces.flatMap(({ cues }) => cues));
  return heard.length > 0 ? heard : all;
}

/** The cues of what was heard of a video, of which all pieces are there. */
export async function heardCues({ MEDIA }: Pick<Env, "MEDIA">, asset: Asset): Promise<Cue[]> {
  return cuesOf(await listHeard(MEDIA, asset, countPieces(asset)));
}

function cuesOf(pieces: HeardPiece[]): Cue[] {
  return joinCues(pieces.map(({ cues }) => cues));
}

async function joinHeard(env: Env, asset: Asset): Promise<Cue[]> {
  const count = countPieces(asset);
  if (count === 0) return [];
  const pieces = await listHeard(env.MEDIA, asset, count);
  const cues = cuesOf(pieces);
  const language = asset.language ?? mostHeard(pieces);
  await putTranscript(env, asset, cues, { source: "asr", language, problem: problemOf(pieces) });
  if (language !== null) await updateFacts(env.DB, asset.assetId, { language });
  return cues;
}

/** The language of most of the words. */
function mostHeard(pieces: HeardPiece[]): string | null {
  const words = new Map<string, number>();
  for (const { language, cues } of pieces) {
    if (language !== null) words.set(language, (words.get(language) ?? 0) + cues.length);
  }
  const [most] = [...words].toSorted((a, b) => b[1] - a[1]);
  return most && most[1] > 0 ? most[0] : null;
}

function problemOf(pieces: HeardPiece[]): Failure | null {
  const failed = pieces.flatMap(({ problem }) => problem ?? []);
  const [first] = failed;
  if (!first) return null;
  const share =
    failed.length === pieces.length
      ? "The sound"
      : `${failed.length} of ${pieces.length} pieces of the sound`;
  return { code: first.code, message: `${share} can't be transcribed. ${first.message}` };
}
