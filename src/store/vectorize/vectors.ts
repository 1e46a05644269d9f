import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { INGEST, SEARCH } from "../../config.ts";
import { AppError, causeOf } from "../../errors.ts";
import { type IndexId, trustedId, type SegmentId, type VectorId } from "../../ids.ts";
import {
  type AssetKind,
  type Segment,
  TEXT_KINDS,
  type TextKind,
  type VectorKind,
} from "../../types.ts";
import type { VectorPair, VectorSpace } from "./vector-pairs.ts";

/** Id of a segment's vector, `{segment}:{kind}`: writing it twice overwrites it. */
export function vectorId(segmentId: SegmentId, kind: Exclude<VectorKind, "region">): VectorId {
  return `${segmentId}:${kind}`;
}

/** Returns the segment of a vector's id. A segment's id returns itself. */
export function toSegmentId(id: string): SegmentId {
  return trustedId(id.split(":")[0]!);
}

/** All region vector ids that a segment may have: `{segment}:region-1` and so on. */
export function regionIds(segmentId: SegmentId): VectorId[] {
  return Array.from(
    { length: INGEST.regions.maxCount },
    (_, i): VectorId => `${segmentId}:region-${i + 1}`,
  );
}

/** All ids that a segment may have among the text vectors. */
export function textIds(segmentId: SegmentId): VectorId[] {
  return TEXT_KINDS.map((kind) => vectorId(segmentId, kind));
}

/** Returns those of some texts that are ids which their segments may have. */
export function toVectorIds(texts: readonly string[]): VectorId[] {
  const given = new Set(texts);
  const segmentIds = new Set(texts.map(toSegmentId));
  return [...segmentIds].flatMap(possibleIds).filter((id) => given.has(id));
}

/** All ids that a segment may have: of text vectors first. */
export function possibleIds(segmentId: SegmentId): VectorId[] {
  return [...textIds(segmentId), ...imageIds(segmentId)];
}

/** All ids that a segment may have among the image vectors. */
export function imageIds(segmentId: SegmentId): VectorId[] {
  return [vectorId(segmentId, "image"), ...regionIds(segmentId)];
}

/** Whether an id is of an image vector, by its kind. */
export function isImageVector(id: VectorId): boolean {
  const kind = id.slice(toSegmentId(id).length + 1);
  return kind === "image" || kind.startsWith("region-");
}

/**
 * Returns the time in which Vectorize shows a write: 30 seconds mostly, and 2 minutes at most
 * (changelog of 2026-06-30). The default is longer, so that nothing is done twice.
 */
export function vectorLagSeconds({ VECTOR_LAG_SECONDS }: Pick<Env, "VECTOR_LAG_SECONDS">): number {
  return Number(VECTOR_LAG_SECONDS);
}

export interface SegmentVector {
  segment: Segment;
  kind: VectorKind;
  /** Number of the region in its segment, from 0; regions only. */
  region?: number;
  values: number[];
  model: string;
}

/** Returns the id under which a vector is stored. */
export function idOfVector({ segment, kind, region }: SegmentVector): VectorId {
  const { segmentId } = segment;
  return kind === "region" ? regionIds(segmentId)[region!]! : vectorId(segmentId, kind);
}

function toRow({ segment, kind, values, model }: SegmentVector, assetKind: AssetKind) {
  const { assetId, startMs } = segment;
  return {
    namespace: segment.indexId,
    values,
    metadata: { asset_id: assetId, asset_type: assetKind, kind, start: startMs ?? 0, model },
  };
}

/** Ids per `getByIds` call (Vectorize limit). */
const IDS_PER_READ = 20;
/** Vectors per `upsert` call (Vectorize limit). */
const VECTORS_PER_UPSERT = 1000;
/** Ids per `deleteByIds` call (Vectorize limit). */
const IDS_PER_DELETE = 100;

/** Vectorize's error code for vectors whose dimensions aren't the index's. */
const WRONG_DIMENSIONS = /\b40012\b/;

/**
 * Writes vectors into the namespace of their media index. Queries return them within
 * `vectorLagSeconds`.
 * Throws `model_request_rejected` if their dimensions aren't those of the Vectorize index.
 */
export async function upsertVectors(
  space: VectorSpace,
  vectors: SegmentVector[],
  assetKind: AssetKind,
): Promise<void> {
  const rows = vectors.map((vector) => ({
    id: idOfVector(vector),
    ...toRow(vector, assetKind),
  }));
  try {
    for (let i = 0; i < rows.length; i += VECTORS_PER_UPSERT) {
      await space.upsert(rows.slice(i, i + VECTORS_PER_UPSERT));
    }
  } catch (cause) {
    if (!WRONG_DIMENSIONS.test(causeOf(cause))) throw cause;
    const [first] = vectors;
    const message =
      `The vectors of ${first!.model} have ${first!.values.length} dimensions, ` +
      "and the Vectorize index was made for another number: docs/operate.md#change-a-model.";
    throw new AppError("model_request_rejected", message, { cause });
  }
}

/** Waits for a read of Vectorize. Throws `upstream_unavailable` if it fails, or a limit's error. */
async function read<T>(response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const message = "The index of vectors does not answer; try again.";
    throw new AppError("upstream_unavailable", message, { cause });
  }
}

export interface VectorHit {
  segmentId: SegmentId;
  /** `image` for regions, too. */
  kind: TextKind | "image";
  /** Cosine of query and vector; `SEARCH.regionPenalty` is subtracted for a region. */
  cosine: number;
}

/** Returns the vectors of an index nearest to `values` that meet `filter`, which may be empty. */
export async function queryVectors(
  space: VectorSpace,
  indexId: IndexId,
  values: number[],
  topK: number,
  filter: VectorizeVectorMetadataFilter,
): Promise<VectorHit[]> {
  const options = { topK, namespace: indexId, ...(Object.keys(filter).length > 0 && { filter }) };
  const { matches } = await read(space.query(values, options));
  return matches.map(({ id, score }) => {
    const segmentId = toSegmentId(id);
    const kind = id.slice(segmentId.length + 1);
    return kind.startsWith("region-")
      ? { segmentId, kind: "image", cosine: score - SEARCH.regionPenalty }
      : { segmentId, kind: kind as TextKind | "image", cosine: score };
  });
}

/** Returns the existing vectors of one kind of at most 20 segments (Vectorize limit). */
export async function getVectors(
  space: VectorSpace,
  segmentIds: SegmentId[],
  kind: Exclude<VectorKind, "region">,
): Promise<number[][]> {
  const vectors = await read(space.getByIds(segmentIds.map((id) => vectorId(id, kind))));
  return vectors.map(({ values }) => Array.from(values));
}

/** Divides ids into batches that Vectorize reads in one call each. */
export function inReadBatches(ids: readonly VectorId[]): VectorId[][] {
  return Array.from({ length: Math.ceil(ids.length / IDS_PER_READ) }, (_, i) =>
    ids.slice(i * IDS_PER_READ, (i + 1) * IDS_PER_READ),
  );
}

async function readByIds(space: VectorSpace, ids: readonly VectorId[]): Promise<VectorizeVector[]> {
  const batches = inReadBatches(ids);
  const found = await mapConcurrent(batches, CONNECTIONS, (batch) => read(space.getByIds(batch)));
  return found.flat();
}

/** Returns the existing ones of `ids`, with the model that made each vector. */
export async function listVectorModels(
  space: VectorSpace,
  ids: readonly VectorId[],
): Promise<Map<string, unknown>> {
  const found = await readByIds(space, ids);
  return new Map(found.map(({ id, metadata }) => [id, metadata?.["model"]]));
}

/** A vector in Vectorize. */
interface ReadVector extends Pick<SegmentVector, "kind" | "values" | "region"> {
  segmentId: SegmentId;
}

/** Returns the existing ones of `ids`. */
export async function readVectors(
  space: VectorSpace,
  ids: readonly VectorId[],
): Promise<ReadVector[]> {
  return (await readByIds(space, ids)).map(({ id, values }) => {
    const segmentId = toSegmentId(id);
    const region = regionIds(segmentId).findIndex((regionId) => regionId === id);
    const name = id.slice(segmentId.length + 1) as TextKind | "image";
    return region >= 0
      ? { segmentId, kind: "region", region, values: Array.from(values) }
      : { segmentId, kind: name, values: Array.from(values) };
  });
}

/** Deletes vectors, in calls of 100 ids. */
export async function deleteVectors(space: VectorSpace, ids: VectorId[]): Promise<void> {
  for (let i = 0; i < ids.length; i += IDS_PER_DELETE) {
    await space.deleteByIds(ids.slice(i, i + IDS_PER_DELETE));
  }
}

/** Deletes vectors from the indexes of a pair that their ids belong to. */
export async function deleteVectorsOf(
  { text, image }: VectorPair,
  ids: readonly VectorId[],
): Promise<void> {
  await deleteVectors(
    text,
    ids.filter((id) => !isImageVector(id)),
  );
  await deleteVectors(image, ids.filter(isImageVector));
}

/** Deletes all vectors that segments may have. */
export async function deleteSegmentVectors(
  { text, image }: VectorPair,
  segmentIds: SegmentId[],
): Promise<void> {
  await deleteVectorsOf({ text, image }, segmentIds.flatMap(possibleIds));
}

/** Lists the ids of an index's vectors nearest to `values`, at most `SEARCH.maxCandidates`. */
export async function listNearestIds(
  space: VectorSpace,
  indexId: IndexId,
  values: number[],
): Promise<VectorId[]> {
  const topK = SEARCH.maxCandidates;
  const options = { topK, namespace: indexId, returnMetadata: "none" } as const;
  const { matches } = await read(space.query(values, options));
  return matches.map(({ id }) => trustedId(id));
}
