import { INGEST, MODELS } from "../config.ts";
import { cropPlaces } from "../media/crops.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { keyframeKey } from "../store/media.ts";
import { isWanted } from "../store/removals.ts";
import { listSegments } from "../store/segments.ts";
import { indexWords } from "../store/words.ts";
import { setPictureModel, setTextModel } from "../store/vector-models.ts";
import {
  deleteVectors,
  forgetVectors,
  pictureIds,
  type SegmentVector,
  textIds,
  upsertVectors,
} from "../store/vectors.ts";
import { type Asset, type Segment, TEXT_KINDS, type TextKind } from "../types.ts";
import { placeBetween, smallThings } from "./small-things.ts";

/**
 * Makes one part's segments findable: a vector for each kind of words, one for the keyframe and
 * each small thing in it where there is a picture space, and full-text rows.
 */
export async function embed(env: Env, asset: Asset, part: number): Promise<void> {
  const from = part * INGEST.partSegments;
  const segments = await listSegments(env.DB, asset.assetId, from, from + INGEST.partSegments);
  await Promise.all([
    putTexts(env, asset, segments),
    hasPictureSpace(env) && putPictures(env, asset, segments),
  ]);
  await indexWords(env.DB, segments);
  if (await isWanted(env.DB, asset.assetId)) return;
  await forgetVectors(
    env,
    segments.map(({ segmentId }) => segmentId),
  );
}

/** Writes the vectors of segments' words over those that there are; of words that are no more, they go. */
export async function putTexts(env: Env, asset: Asset, segments: Segment[]): Promise<void> {
  const words = await embedWords(env.AI, segments, TEXT_KINDS);
  await upsertVectors(env.TEXT_VECTORS, words, asset.assetType);
  const made = new Set(words.map(({ segment, kind }) => `${segment.segmentId}:${kind}`));
  const ids = segments.flatMap(({ segmentId }) => textIds(segmentId));
  await deleteVectors(
    env.TEXT_VECTORS,
    ids.filter((id) => !made.has(id)),
  );
  await setTextModel(env.DB, segments, MODELS.embedText.id);
}

/** Likewise those of their keyframes, all of which must be there, and of the small things in these. */
export async function putPictures(env: Env, asset: Asset, segments: Segment[]): Promise<void> {
  const pictures = await embedKeyframes(env, asset, segments);
  await upsertVectors(env.PICTURE_VECTORS, pictures, asset.assetType);
  await forgetPictures(env, segments, pictures);
  await setPictureModel(env.DB, segments, pictures[0]?.model ?? null);
}

/** A vector for each kind of words that a segment has. */
export async function embedWords(
  ai: Ai,
  segments: Segment[],
  kinds: readonly TextKind[],
): Promise<SegmentVector[]> {
  const passages = segments.flatMap((segment) =>
    kinds
      .map((kind) => ({ segment, kind, text: passageOf(segment, kind) }))
      .filter(({ text }) => text !== ""),
  );
  const vectors = await embedText(
    ai,
    passages.map(({ text }) => text),
  );
  return passages.map(({ segment, kind }, i) => {
    return { segment, kind, values: vectors[i]!, model: MODELS.embedText.id };
  });
}

async function embedKeyframes(
  env: Env,
  asset: Asset,
  segments: Segment[],
): Promise<SegmentVector[]> {
  const seen = segments.filter(({ problem }) => problem === null);
  const objects = await Promise.all(
    seen.map(({ keyframeMs }) => env.MEDIA.get(keyframeKey(asset, keyframeMs))),
  );
  const keyframes = await Promise.all(objects.map((object) => object!.bytes()));
  const { model, vectors } = await embedPictures(env, keyframes);
  const pictures = seen.map((segment, i) => {
    return { segment, kind: "picture" as const, values: vectors[i]!, model };
  });
  return [...pictures, ...(await embedRegions(env, pictures, keyframes))];
}

/** `pictures` and their JPEGs, in the same order. */
async function embedRegions(
  env: Env,
  pictures: SegmentVector[],
  keyframes: Uint8Array[],
): Promise<SegmentVector[]> {
  const regions: (SegmentVector & { region: number; jpeg: Uint8Array })[] = [];
  for (const [i, picture] of pictures.entries()) {
    const things = smallThings(picture.segment.boxes);
    const jpegs = await cropPlaces(env.IMAGES, keyframes[i]!, things, INGEST.regions.margin);
    for (const [region, jpeg] of jpegs.entries()) {
      regions.push({ ...picture, kind: "region", region, jpeg });
    }
  }
  const { vectors } = await embedPictures(
    env,
    regions.map(({ jpeg }) => jpeg),
  );
  return regions.map(({ segment, kind, region, values, model }, i) => {
    return { segment, kind, region, values: placeBetween(vectors[i]!, values), model };
  });
}

function embedPictures(env: Env, jpegs: Uint8Array[]) {
  return embedInPictureSpace(
    env,
    jpegs.map((image) => ({ image })),
  );
}

/** What an earlier run found and this one didn't. */
async function forgetPictures(env: Env, segments: Segment[], made: SegmentVector[]): Promise<void> {
  const counts = Map.groupBy(made, ({ segment }) => segment.segmentId);
  const ids = segments.flatMap(({ segmentId }) =>
    pictureIds(segmentId).slice(counts.get(segmentId)?.length ?? 0),
  );
  await deleteVectors(env.PICTURE_VECTORS, ids);
}

/** The words of a segment that a vector of `kind` stands for. */
function passageOf(segment: Segment, kind: TextKind): string {
  if (kind === "speech") return segment.transcript;
  if (kind === "text") return segment.onScreenText;
  return segment.caption;
}
