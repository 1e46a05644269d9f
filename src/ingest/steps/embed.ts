import { assetKind } from "../../asset-kind.ts";
import { INGEST, MODELS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { VectorId } from "../../ids.ts";
import { cropImage, decodeJpeg, decodeLuma, encodeJpeg } from "../../media/pixels/jpeg.ts";
import { areIdentical, type Blocks, toBlocks } from "../../media/pixels/luma.ts";
import { expandRect } from "../../media/pixels/rect.ts";
import { embedInImageSpace, hasImageEmbeddings, embedText } from "../../models/embed.ts";
import { isAssetLive } from "../../store/asset-changes.ts";
import { type IndexDb, indexDatabase } from "../../store/index-database/index-database.ts";
import { recordVectors, setVectorModel } from "../../store/index-database/segments.ts";
import { getKeyframe } from "../../store/r2/object-keys.ts";
import { type VectorSpace, vectorPair } from "../../store/vectorize/vector-pairs.ts";
import {
  type SegmentVector,
  deleteSegmentVectors,
  deleteVectors,
  idOfVector,
  imageIds,
  textIds,
  upsertVectors,
} from "../../store/vectorize/vectors.ts";
import {
  type Asset,
  type Rect,
  type Segment,
  TEXT_KINDS,
  type TextKind,
  type BoundingBox,
} from "../../types.ts";
import { listSegmentsOfPart } from "./describe.ts";

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
  const db = indexDatabase(env, asset);
  const vectors = await embedTexts(env.AI, segments, TEXT_KINDS);
  const possibleIds = segments.flatMap(({ segmentId }) => textIds(segmentId));
  await replaceVectors(db, vectorPair(env, asset).text, asset, vectors, possibleIds);
  await setVectorModel(db, "text_model", segments, MODELS.embedText.id);
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
export async function putImageVectors(env: Env, asset: Asset, segments: Segment[]): Promise<void> {
  const db = indexDatabase(env, asset);
  const vectors = await embedKeyframes(env, asset, segments);
  const possibleIds = segments.flatMap(({ segmentId }) => imageIds(segmentId));
  await replaceVectors(db, vectorPair(env, asset).image, asset, vectors, possibleIds);
  await setVectorModel(db, "image_model", segments, vectors[0]?.model ?? null);
}

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
  const first = await findFirstIdentical(withKeyframe, keyframes);
  const distinct = [...new Set(first)];
  const jpegs = distinct.map((i) => keyframes[i]!);
  const { model, vectors } = await embedImages(env, jpegs);
  const distinctVectors = distinct.map((i, at): SegmentVector => {
    return { segment: withKeyframe[i]!, kind: "image", values: vectors[at]!, model };
  });
  const all = [...distinctVectors, ...(await embedRegions(env, distinctVectors, jpegs))];
  const bySegment = Map.groupBy(all, ({ segment }) => segment);
  return withKeyframe.flatMap((segment, i) => {
    const shown = bySegment.get(withKeyframe[first[i]!]!)!;
    return shown.map((vector) => Object.assign({}, vector, { segment }));
  });
}

/**
 * Returns for each keyframe the position of the first that shows the same. Only those with the same
 * description are compared, because they share it (see `describeSegments`).
 */
export async function findFirstIdentical(
  segments: Pick<Segment, "caption" | "onScreenText" | "labels" | "boxes">[],
  keyframes: Uint8Array[],
): Promise<number[]> {
  const first = [...keyframes.keys()];
  const descriptionOf = (i: number) => {
    const { caption, onScreenText, labels, boxes } = segments[i]!;
    return JSON.stringify([caption, onScreenText, labels, boxes]);
  };
  for (const group of Map.groupBy(first.slice(), descriptionOf).values()) {
    if (group.length === 1) continue;
    const images: { position: number; blocks: Blocks }[] = [];
    for (const position of group) {
      const blocks = toBlocks(await decodeLuma(keyframes[position]!));
      const image = images.find((earlier) => areIdentical(earlier.blocks, blocks));
      if (image) first[position] = image.position;
      else images.push({ position, blocks });
    }
  }
  return first;
}

async function requireKeyframe(env: Env, asset: Asset, ms: number): Promise<Uint8Array> {
  const jpeg = await getKeyframe(env.MEDIA, asset, ms);
  if (!jpeg) throw new AppError("source_missing", "Keyframes are gone, and can't be taken again.");
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
    const vector = regionVector(vectors[i]!, values);
    return { segment, kind, region, values: vector, model: regionModel(model) };
  });
}

function embedImages(env: Env, jpegs: Uint8Array[]) {
  return embedInImageSpace(
    env,
    jpegs.map((image) => ({ image })),
  );
}

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

const { maxCount, minScore, maxAreaShare } = INGEST.regions;

/**
 * Selects boxes of small objects, which the vector of the whole keyframe doesn't represent: score
 * at least `minScore`, area share below `maxAreaShare`. The best box of each label comes before the
 * second of any label, then by score.
 */
export function smallObjects(boxes: BoundingBox[]): BoundingBox[] {
  const small = boxes
    .filter(({ score, width, height }) => score >= minScore && isSmall(width * height))
    .toSorted((a, b) => b.score - a.score);
  const bestOfLabel = new Set(new Map(small.toReversed().map((box) => [box.label, box])).values());
  const rest = small.filter((box) => !bestOfLabel.has(box));
  return [...small.filter((box) => bestOfLabel.has(box)), ...rest].slice(0, maxCount);
}

function isSmall(areaShare: number): boolean {
  return areaShare > 0 && areaShare < maxAreaShare;
}

/**
 * Returns the model that a region's vector names: that of its keyframe's vector, with a version of
 * how the crop is encoded. Repair embeds regions of another version again.
 */
export function regionModel(model: string): string {
  return `${model} crop-2`;
}

/**
 * Returns the vector of a region: the sum of the unit vectors of its crop and of its keyframe. The
 * vector of the crop alone is unlike those of whole images and causes false matches
 * (docs/experiments/search.md).
 */
export function regionVector(crop: number[], keyframe: number[]): number[] {
  const [cropLength, keyframeLength] = [lengthOf(crop), lengthOf(keyframe)];
  return crop.map((value, i) => value / cropLength + keyframe[i]! / keyframeLength);
}

/** Euclidean length, 1 for a zero vector. */
function lengthOf(vector: number[]): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
}
