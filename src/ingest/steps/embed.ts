import { INGEST, MODELS } from "../../config.ts";
import { cropRects } from "../../media/pixels/crop.ts";
import { embedInImageSpace, hasImageEmbeddings } from "../../models/embed-image.ts";
import { embedText } from "../../models/embed-text.ts";
import { indexDatabase } from "../../store/index-database.ts";
import { getKeyframe } from "../../store/object-keys.ts";
import { isAssetLive } from "../../store/deletions.ts";
import { setImageModel, setTextModel } from "../../store/vector-models.ts";
import { vectorPair } from "../../store/vector-pairs.ts";
import {
  deleteVectors,
  deleteSegmentVectors,
  imageIds,
  type SegmentVector,
  textIds,
  upsertVectors,
} from "../../store/vectors.ts";
import { type Asset, type Segment, TEXT_KINDS, type TextKind } from "../../types.ts";
import { regionVector, smallObjects } from "../small-objects.ts";
import { listSegmentsOfPart } from "./part-segments.ts";

/** Embeds one part's segments. Deletes the vectors again if the asset was deleted meanwhile. */
export async function embed(env: Env, asset: Asset, part: number): Promise<void> {
  const segments = await listSegmentsOfPart(env, asset, part);
  await putVectors(env, asset, segments);
  if (await isAssetLive(env.DB, asset.assetId)) return;
  await deleteSegmentVectors(
    vectorPair(env, asset),
    segments.map(({ segmentId }) => segmentId),
  );
}

/**
 * Embeds segments: a vector for each kind of text and, if the deployment has an image model, one
 * for the keyframe and for each small object. Overwrites what they have.
 */
export async function putVectors(env: Env, asset: Asset, segments: Segment[]): Promise<void> {
  await Promise.all([
    putTextVectors(env, asset, segments),
    hasImageEmbeddings(env) && putImageVectors(env, asset, segments),
  ]);
}

/**
 * Embeds the text of segments. Overwrites their text vectors and deletes those without text now.
 */
export async function putTextVectors(env: Env, asset: Asset, segments: Segment[]): Promise<void> {
  const { text } = vectorPair(env, asset);
  const vectors = await embedTexts(env.AI, segments, TEXT_KINDS);
  await upsertVectors(text, vectors, asset.assetType);
  const written = new Set(vectors.map(({ segment, kind }) => `${segment.segmentId}:${kind}`));
  const ids = segments.flatMap(({ segmentId }) => textIds(segmentId));
  await deleteVectors(
    text,
    ids.filter((id) => !written.has(id)),
  );
  await setTextModel(indexDatabase(env, asset), segments, MODELS.embedText.id);
}

/**
 * Embeds the keyframes and small objects of segments and overwrites their image vectors. Every
 * keyframe that they have must be in R2.
 */
export async function putImageVectors(env: Env, asset: Asset, segments: Segment[]): Promise<void> {
  const { image } = vectorPair(env, asset);
  const imageVectors = await embedKeyframes(env, asset, segments);
  await upsertVectors(image, imageVectors, asset.assetType);
  await deleteStaleImageVectors(image, segments, imageVectors);
  const model = imageVectors[0]?.model ?? null;
  await setImageModel(indexDatabase(env, asset), segments, model);
}

/** Embeds each kind of text that a segment has. */
export async function embedTexts(
  ai: Ai,
  segments: Segment[],
  kinds: readonly TextKind[],
): Promise<SegmentVector[]> {
  const inputs = segments.flatMap((segment) =>
    kinds
      .map((kind) => ({ segment, kind, text: textOfKind(segment, kind) }))
      .filter(({ text }) => text !== ""),
  );
  const vectors = await embedText(
    ai,
    inputs.map(({ text }) => text),
  );
  return inputs.map(({ segment, kind }, i) => {
    return { segment, kind, values: vectors[i]!, model: MODELS.embedText.id };
  });
}

async function embedKeyframes(
  env: Env,
  asset: Asset,
  segments: Segment[],
): Promise<SegmentVector[]> {
  const withKeyframe = segments.filter(({ hasKeyframe }) => hasKeyframe);
  const keyframes = await Promise.all(
    withKeyframe.map(({ keyframeMs }) => requireKeyframe(env, asset, keyframeMs)),
  );
  const { model, vectors } = await embedImages(env, keyframes);
  const imageVectors = withKeyframe.map((segment, i) => {
    return { segment, kind: "image" as const, values: vectors[i]!, model };
  });
  return [...imageVectors, ...(await embedRegions(env, imageVectors, keyframes))];
}

async function requireKeyframe(env: Env, asset: Asset, ms: number): Promise<Uint8Array> {
  const jpeg = await getKeyframe(env.MEDIA, asset, ms);
  if (!jpeg) throw new Error("A keyframe is missing");
  return jpeg;
}

/** Embeds the small objects of keyframes. The vectors and JPEGs of these are in the same order. */
async function embedRegions(
  env: Env,
  imageVectors: SegmentVector[],
  keyframes: Uint8Array[],
): Promise<SegmentVector[]> {
  const regions: (SegmentVector & { region: number; jpeg: Uint8Array })[] = [];
  for (const [i, keyframeVector] of imageVectors.entries()) {
    const rects = smallObjects(keyframeVector.segment.boxes);
    const jpegs = await cropRects(keyframes[i]!, rects, INGEST.regions.margin);
    for (const [region, jpeg] of jpegs.entries()) {
      regions.push({ ...keyframeVector, kind: "region", region, jpeg });
    }
  }
  const { vectors } = await embedImages(
    env,
    regions.map(({ jpeg }) => jpeg),
  );
  return regions.map(({ segment, kind, region, values, model }, i) => {
    return { segment, kind, region, values: regionVector(vectors[i]!, values), model };
  });
}

function embedImages(env: Env, jpegs: Uint8Array[]) {
  return embedInImageSpace(
    env,
    jpegs.map((image) => ({ image })),
  );
}

/** Deletes image vectors of an earlier run that this one hasn't overwritten. */
async function deleteStaleImageVectors(
  space: VectorizeIndex,
  segments: Segment[],
  written: SegmentVector[],
): Promise<void> {
  const counts = Map.groupBy(written, ({ segment }) => segment.segmentId);
  const ids = segments.flatMap(({ segmentId }) =>
    imageIds(segmentId).slice(counts.get(segmentId)?.length ?? 0),
  );
  await deleteVectors(space, ids);
}

/** Returns the text of a segment that its vector of `kind` represents. */
function textOfKind(segment: Segment, kind: TextKind): string {
  if (kind === "speech") return segment.transcript;
  if (kind === "text") return segment.onScreenText;
  return segment.caption;
}
