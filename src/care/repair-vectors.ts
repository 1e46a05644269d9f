import { INGEST } from "../config.ts";
import { AppError } from "../errors.ts";
import { putPictures, putTexts } from "../ingest/embed.ts";
import { finishVectors } from "../ingest/replace-transcript.ts";
import { keyframeKey, keyframePrefix, listObjects } from "../store/media.ts";
import { listSegmentsById } from "../store/segments.ts";
import { indexWords } from "../store/words.ts";
import { laySpeech } from "../store/speech.ts";
import { pictureIds, segmentOf } from "../store/vectors.ts";
import type { Segment } from "../types.ts";
import { type Fix, inPieces, type Work } from "./work.ts";

/** Full-text rows of segments' words, as these are. */
export const indexAgain: Fix = async ({ env, asset, pause }, segmentIds) => {
  await inPieces(segmentIds, SEGMENTS, pause, async (few) => {
    await indexWords(env.DB, await listSegmentsById(env.DB, asset.assetId, few));
  });
  return null;
};

/** The vectors of the segments that vectors are of, in the same space, are made again and put over the old. */
export const renewVectors: Fix = async (work, vectorIds) => {
  const { env, asset, jobId, pause } = work;
  const isPicture = (id: string) => pictureIds(segmentOf(id)).some((one) => one === id);
  const texts = segmentsOf(vectorIds.filter((id) => !isPicture(id)));
  const pictures = segmentsOf(vectorIds.filter(isPicture));
  if (asset.assetType === "video") {
    await laySpeech(env.DB, asset, jobId, []);
    await finishVectors(env, asset.assetId, jobId);
  }
  await inPieces(texts, INGEST.partSegments, pause, (few) => renewTexts(work, few));
  return renewPictures(work, pictures);
};

/** Until the words are those that the vectors were made of: they may be replaced all the while. */
async function renewTexts({ env, asset }: Work, segmentIds: string[]): Promise<void> {
  for (let ids = segmentIds; ids.length > 0;) {
    const before = await listSegmentsById(env.DB, asset.assetId, ids);
    if (before.length > 0) await putTexts(env, asset, before);
    const after = await listSegmentsById(env.DB, asset.assetId, ids);
    const said = new Map(before.map(({ segmentId, transcript }) => [segmentId, transcript]));
    ids = after
      .filter(({ segmentId, transcript }) => said.get(segmentId) !== transcript)
      .map(({ segmentId }) => segmentId);
  }
}

async function renewPictures(
  { env, asset, pause }: Work,
  segmentIds: string[],
): Promise<string | null> {
  const segments = await listSegmentsById(env.DB, asset.assetId, segmentIds);
  const stored = await listObjects(env.MEDIA, keyframePrefix(asset));
  const keys = new Set(stored.map(({ key }) => key));
  const canBeSeen = ({ problem, keyframeMs }: Segment) =>
    problem !== null || keys.has(keyframeKey(asset, keyframeMs));
  await inPieces(segments.filter(canBeSeen), INGEST.partSegments, pause, (few) =>
    putPictures(env, asset, few),
  );
  if (segments.every(canBeSeen)) return null;
  throw new AppError("source_missing", "Keyframes are gone, and can't be taken again.");
}

const SEGMENTS = 200;

function segmentsOf(vectorIds: string[]): string[] {
  return [...new Set(vectorIds.map(segmentOf))];
}
