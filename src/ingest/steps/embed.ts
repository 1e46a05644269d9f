import { assetKind } from "../../asset-kind.ts";
import { INGEST, MODELS } from "../../config.ts";
import type { VectorId } from "../../ids.ts";
import { cropImage } from "../../media/pixels/crop-image.ts";
import { decodeJpeg, encodeJpeg } from "../../media/pixels/jpeg.ts";
import { expandRect } from "../../media/pixels/rect.ts";
import { embedInImageSpace, hasImageEmbeddings } from "../../models/embed-image.ts";
import { embedText } from "../../models/embed-text.ts";
import { isWatched } from "../../store/d1/watches.ts";
import { isAssetLive } from "../../store/deletions.ts";
import { type IndexDb, indexDatabase } from "../../store/index-database/index-database.ts";
import { putNewVectors } from "../../store/index-database/new-vectors.ts";
import {
  setImageModel,
  setTextModel,
  recordVectors,
} from "../../store/index-database/written-vectors.ts";
import { getKeyframe } from "../../store/r2/object-keys.ts";
import { vectorPair, type VectorSpace } from "../../store/vectorize/vector-pairs.ts";
import {
  deleteVectors,
  deleteSegmentVectors,
  idOfVector,
  imageIds,
  type SegmentVector,
  textIds,
  upsertVectors,
} from "../../store/vectorize/vectors.ts";
import {
  type Asset,
  IMAGE_VECTOR_KINDS,
  type Rect,
  type Segment,
  TEXT_KINDS,
  type TextKind,
} from "../../types.ts";
import { regionVector, smallObjects } from "../small-objects.ts";
import { listSegmentsOfPart } from "./part-segments.ts";

/** Embeds one part's segments. Deletes the vectors again if the asset was deleted meanwhile. */
export async function embed(env: Env, asset: Asset, part: number): Promise<void> {
  const segments = await listSegmentsOfPart(env, asset, part);
  const isStored = await isWatched(env.DB, asset);
  await putVectors(env, asset, segments, isStored);
  if (await isAssetLive(env.DB, asset.assetId)) return;
  await deleteSegmentVectors(
    vectorPair(env, asset),
    segments.map(({ segmentId }) => segmentId),
  );
}

/**
 * Embeds segments: a vector for each kind of text and, if the deployment has an image model, one
 * for the keyframe and for each small object. Overwrites what they have. `isStored` stores the
 * vectors in the index's database, too, for watches.
 */
export async function putVectors(
  env: Env,
  asset: Asset,
  segments: Segment[],
  isStored = false,
): Promise<void> {
  await Promise.all([
    putTextVectors(env, asset, segments, isStored),
    hasImageEmbeddings(env) && putImageVectors(env, asset, segments, isStored),
  ]);
}

/**
 * Embeds the text of segments. Overwrites their text vectors and deletes those without text now.
 */
export async function putTextVectors(
  env: Env,
  asset: Asset,
  segments: Segment[],
  isStored = false,
): Promise<void> {
  const db = indexDatabase(env, asset);
  const vectors = await embedTexts(env.AI, segments, TEXT_KINDS);
  if (isStored) await putNewVectors(db, segments, vectors, TEXT_KINDS);
  const possibleIds = segments.flatMap(({ segmentId }) => textIds(segmentId));
  await replaceVectors(db, vectorPair(env, asset).text, asset, vectors, possibleIds);
  await setTextModel(db, segments, MODELS.embedText.id);
}

/**
 * Writes vectors of an asset, and deletes those of `possibleIds` that aren't among them and may
 * have been written before. A deletion is a write job of its own, which delays others.
 */
export async function replaceVectors(
  db: IndexDb,
  space: VectorSpace,
  asset: Pick<Asset, "assetType" | "technical">,
  vectors: SegmentVector[],
  possibleIds: VectorId[],
): Promise<void> {
  const ids = new Set(vectors.map(idOfVector));
  const others = possibleIds.filter((id) => !ids.has(id));
  const staleIds = await recordVectors(db, [...ids], others, Date.now());
  await upsertVectors(space, vectors, assetKind(asset));
  await deleteVectors(space, staleIds);
}

/**
 * Embeds the keyframes and small objects of segments and overwrites their image vectors. Every
 * keyframe that they have must be in R2.
 */
export async function putImageVectors(
  env: Env,
  asset: Asset,
  segments: Segment[],
  isStored = false,
): Promise<void> {
  const db = indexDatabase(env, asset);
  const vectors = await embedKeyframes(env, asset, segments);
  if (isStored) await putNewVectors(db, segments, vectors, IMAGE_VECTOR_KINDS);
  const possibleIds = segments.flatMap(({ segmentId }) => imageIds(segmentId));
  await replaceVectors(db, vectorPair(env, asset).image, asset, vectors, possibleIds);
  await setImageModel(db, segments, vectors[0]?.model ?? null);
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

/** Returns the text of a segment that its vector of `kind` represents. */
function textOfKind(segment: Segment, kind: TextKind): string {
  if (kind === "speech") return segment.transcript;
  if (kind === "text") return segment.onScreenText;
  return segment.caption;
}

/**
 * Crops one of our JPEGs to each rectangle, expanded by `margin` times its longer side, and returns
 * JPEGs. Throws `unreadable_image`.
 */
export async function cropRects(
  jpeg: Uint8Array,
  rects: Rect[],
  margin: number,
): Promise<Uint8Array[]> {
  if (rects.length === 0) return [];
  const crops = await decodeJpeg(jpeg, (image) =>
    rects.map((rect) => cropImage(image, expandRect(rect, image, margin))),
  );
  return Promise.all(crops.map((crop) => encodeJpeg(crop)));
}
