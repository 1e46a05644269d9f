import type { Failure } from "../errors.ts";
import { updateFacts } from "../store/assets.ts";
import { listSegments, setSpokenWords } from "../store/segments.ts";
import {
  getCues,
  getTranscript,
  type HeardPiece,
  listHeard,
  putTranscript,
} from "../store/transcripts.ts";
import type { Asset, Cue } from "../types.ts";
import { countPieces, joinCues } from "./pieces.ts";
import { spreadCues, wordsBetween } from "./transcript.ts";

/** Lays the words that are spoken, given or heard, over the segments of a video. */
export async function layTranscript(env: Env, asset: Asset): Promise<void> {
  const given = await getTranscript(env.DB, asset.assetId);
  const isGiven = given !== null && given.source !== "asr";
  const cues = isGiven ? await getCues(env.MEDIA, asset) : await joinHeard(env, asset);
  const spread = spreadCues(cues, asset.durationMs / 1000);
  const segments = await listSegments(env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  const words = segments.map(({ segmentId, startMs, endMs }) => {
    return { segmentId, transcript: wordsBetween(spread, startMs! / 1000, endMs! / 1000) };
  });
  await setSpokenWords(env.DB, words);
}

async function joinHeard(env: Env, asset: Asset): Promise<Cue[]> {
  const count = countPieces(asset);
  if (count === 0) return [];
  const pieces = await listHeard(env.MEDIA, asset, count);
  const cues = joinCues(pieces.map((piece) => piece.cues));
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
