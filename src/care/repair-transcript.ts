import { AppError } from "../errors.ts";
import { countPieces } from "../ingest/pieces.ts";
import { finishVectors } from "../ingest/replace-transcript.ts";
import { heardCues } from "../ingest/transcribe.ts";
import { heardPrefix, listObjects } from "../store/media.ts";
import { listSegments } from "../store/segments.ts";
import { laySpeech } from "../store/speech.ts";
import { getTranscript, putCues, setCueCount } from "../store/transcripts.ts";
import type { Cue } from "../types.ts";
import { saidOtherwise } from "./inspect-transcript.ts";
import type { Fix, Work } from "./work.ts";

/** The cues are those that were heard, or else one a segment, of what is said in it. */
export const rebuildTranscript: Fix = async (work) => {
  const { env, asset } = work;
  const heard = await findHeard(work);
  const cues = heard ?? (await cuesOfSegments(work));
  if (cues.length === 0) {
    throw new AppError("source_missing", "The transcript is gone: give it again.");
  }
  await putCues(env.MEDIA, asset, cues, asset.transcriptJob);
  await setCueCount(env.DB, asset, cues.length);
  await layAgain(work, []);
  return heard ? null : "The times of its cues are lost: there is one for each segment.";
};

/** Segments say what the transcript says there, in full text and vectors, too. */
export const layAgain: Fix = async ({ env, asset, jobId }) => {
  await laySpeech(env.DB, asset, jobId, await saidOtherwise(env, asset));
  await finishVectors(env, asset.assetId, jobId);
  return null;
};

async function findHeard({ env, asset }: Work): Promise<Cue[] | null> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  const pieces = countPieces(asset);
  if (transcript?.source !== "asr" || pieces === 0) return null;
  const stored = await listObjects(env.MEDIA, heardPrefix(asset));
  return stored.length < pieces ? null : heardCues(env, asset);
}

async function cuesOfSegments({ env, asset }: Work): Promise<Cue[]> {
  const segments = await listSegments(env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  return segments
    .filter(({ transcript }) => transcript !== "")
    .map(({ startMs, endMs, transcript }) => {
      return { start: startMs! / 1000, end: endMs! / 1000, text: transcript };
    });
}
