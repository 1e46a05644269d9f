import { INGEST, MODELS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { VectorId } from "../../ids.ts";
import { smallObjects } from "../../ingest/small-objects.ts";
import { putImageVectors, putTextVectors } from "../../ingest/steps/embed.ts";
import type { SegmentHealth } from "../../store/health.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegmentsById } from "../../store/index-database/segments.ts";
import { recordVectors } from "../../store/index-database/written-vectors.ts";
import { keyframeKey, keyframePrefix, listObjects } from "../../store/r2/object-keys.ts";
import type { VectorPair, VectorSpace } from "../../store/vectorize/vector-pairs.ts";
import {
  imageIds,
  isImageVector,
  listVectorModels,
  regionIds,
  textIds,
  toSegmentId,
  toVectorIds,
  vectorId,
} from "../../store/vectorize/vectors.ts";
import { type Segment, TEXT_KINDS } from "../../types.ts";
import { type Finding, findingAbout } from "../findings.ts";
import type { ImageModel } from "../image-model.ts";
import type { Repair, RepairContext } from "../repair-context.ts";
import { inBatches } from "../slice.ts";
import { updateSpeech } from "./transcript.ts";

/** The vectors that a segment should have among the text vectors, or among the image vectors. */
interface ExpectedVectors {
  /** All ids that the segment may have there. */
  possibleIds: VectorId[];
  /** Ids that must be there. */
  ids: VectorId[];
  /** Model that should have made them; null if any model may have. */
  model: string | null;
  /** Ids that are known to be outdated. */
  staleIds: VectorId[];
}

/**
 * Checks that segments have the vectors that they should, of the present models, and no others.
 * `segments` are those whose vectors haven't changed lately: Vectorize shows a write late.
 */
export async function inspectVectors(
  pair: VectorPair,
  segments: SegmentHealth[],
  imageModel: ImageModel,
): Promise<Finding[]> {
  const expectedImages = segments.map((segment) => expectedImageVectors(segment, imageModel));
  const [texts, images] = await Promise.all([
    compareVectors(pair.text, segments.map(expectedTextVectors)),
    imageModel === "none" ? NO_DIFFERENCE : compareVectors(pair.image, expectedImages),
  ]);
  return [
    ...findingAbout(
      "vectors_missing",
      [...texts.missing, ...images.missing],
      "One vector is missing.",
      (count) => `${count} vectors are missing.`,
    ),
    ...findingAbout(
      "vectors_stale",
      [...texts.stale, ...images.stale],
      "One vector is of another model, or of an earlier text.",
      (count) => `${count} vectors are of another model, or of an earlier text.`,
    ),
    ...findingAbout(
      "vectors_unexpected",
      [...texts.unexpected, ...images.unexpected],
      "One vector is of something that its segment doesn't have.",
      (count) => `${count} vectors are of something that their segments don't have.`,
    ),
  ];
}

function expectedTextVectors(segment: SegmentHealth): ExpectedVectors {
  const { segmentId, textModel, unembedded } = segment;
  const kinds = TEXT_KINDS.filter((kind) => segment[kind]);
  const ids = kinds.map((kind) => vectorId(segmentId, kind));
  const speechId = vectorId(segmentId, "speech");
  const isStale = textModel !== null && textModel !== MODELS.embedText.id;
  const staleIds = isStale ? ids : unembedded ? [speechId] : [];
  return { possibleIds: textIds(segmentId), ids, model: MODELS.embedText.id, staleIds };
}

/** While the present model is unknown, requires the vectors that any model has made before. */
function expectedImageVectors(
  { segmentId, hasKeyframe, boxes, imageModel: recordedModel }: SegmentHealth,
  imageModel: ImageModel,
): ExpectedVectors {
  const model = typeof imageModel === "object" ? imageModel.model : null;
  const isRequired = hasKeyframe && (model !== null || recordedModel !== null);
  const regions = regionIds(segmentId).slice(0, smallObjects(boxes).length);
  const ids = isRequired ? [vectorId(segmentId, "image"), ...regions] : [];
  return { possibleIds: imageIds(segmentId), ids, model, staleIds: [] };
}

/** Ids of vectors that aren't as expected. */
interface VectorDifference {
  missing: string[];
  stale: string[];
  unexpected: string[];
}

const NO_DIFFERENCE: VectorDifference = { missing: [], stale: [], unexpected: [] };

async function compareVectors(
  index: VectorSpace,
  expected: ExpectedVectors[],
): Promise<VectorDifference> {
  const models = await listVectorModels(
    index,
    expected.flatMap(({ possibleIds }) => possibleIds),
  );
  const difference: VectorDifference = { missing: [], stale: [], unexpected: [] };
  for (const { possibleIds, ids, model, staleIds } of expected) {
    for (const id of possibleIds) {
      if (!models.has(id)) {
        if (ids.includes(id)) difference.missing.push(id);
      } else if (staleIds.includes(id)) difference.stale.push(id);
      else if (!ids.includes(id)) difference.unexpected.push(id);
      else if (model !== null && models.get(id) !== model) difference.stale.push(id);
    }
  }
  return difference;
}

/**
 * Makes the vectors of the segments that findings name, and overwrites or deletes the old ones. A
 * text vector brings all text vectors of its segment, an image vector all image vectors. Throws
 * `source_missing` if keyframes are missing.
 */
export const reembedSegments: Repair = async (context, vectorIds) => {
  const { env, asset, checkpoint } = context;
  const ids = toVectorIds(vectorIds);
  const textSegmentIds = segmentIdsOf(ids.filter((id) => !isImageVector(id)));
  const imageSegmentIds = segmentIdsOf(ids.filter(isImageVector));
  if (asset.assetType === "video") await updateSpeech(context, []);
  await recordVectors(indexDatabase(env, asset), ids, [], Date.now()); // also unexpected ones
  await inBatches(textSegmentIds, INGEST.segmentsPerPart, checkpoint, (batch) =>
    reembedTexts(context, batch),
  );
  return reembedImages(context, imageSegmentIds);
};

/** Repeats while a transcript changes meanwhile, so that the last vectors are of the last text. */
async function reembedTexts({ env, asset }: RepairContext, segmentIds: string[]): Promise<void> {
  const db = indexDatabase(env, asset);
  for (let ids = segmentIds; ids.length > 0;) {
    const before = await listSegmentsById(db, asset.assetId, ids);
    if (before.length > 0) await putTextVectors(env, asset, before);
    const after = await listSegmentsById(db, asset.assetId, ids);
    const embedded = new Map(before.map(({ segmentId, transcript }) => [segmentId, transcript]));
    ids = after
      .filter(({ segmentId, transcript }) => embedded.get(segmentId) !== transcript)
      .map(({ segmentId }) => segmentId);
  }
}

async function reembedImages(
  { env, asset, checkpoint }: RepairContext,
  segmentIds: string[],
): Promise<string | null> {
  const segments = await listSegmentsById(indexDatabase(env, asset), asset.assetId, segmentIds);
  const stored = await listObjects(env.MEDIA, keyframePrefix(asset));
  const keys = new Set(stored.map(({ key }) => key));
  const isEmbeddable = ({ hasKeyframe, keyframeMs }: Segment) =>
    !hasKeyframe || keys.has(keyframeKey(asset, keyframeMs));
  await inBatches(segments.filter(isEmbeddable), INGEST.segmentsPerPart, checkpoint, (batch) =>
    putImageVectors(env, asset, batch),
  );
  if (segments.every(isEmbeddable)) return null;
  throw new AppError("source_missing", "Keyframes are gone, and can't be taken again.");
}

function segmentIdsOf(vectorIds: VectorId[]): string[] {
  return [...new Set(vectorIds.map(toSegmentId))];
}
