import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { INGEST, SEARCH } from "../../config.ts";
import { AppError, causeOf } from "../../errors.ts";
import { type IndexId, trustedId, type SegmentId, type VectorId } from "../../ids.ts";
import { inGroups } from "../../lists.ts";
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

export function imageIds(segmentId: SegmentId): VectorId[] {
  return [vectorId(segmentId, "image"), ...regionIds(segmentId)];
}

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

export function idOfVector({ segment, kind, region }: SegmentVector): VectorId {
  const { segmentId } = segment;
  return kind === "region" ? regionIds(segmentId)[region!]! : vectorId(segmentId, kind);
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
  const rows = vectors.map((vector) => {
    const { segment, kind, values, model } = vector;
    const { assetId: asset_id, indexId: namespace, startMs } = segment;
    const metadata = { asset_id, asset_type: assetKind, kind, start: startMs ?? 0, model };
    return { id: idOfVector(vector), namespace, values, metadata };
  });
  try {
    for (const group of inGroups(rows, VECTORS_PER_UPSERT)) await space.upsert(group);
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

export function inReadBatches(ids: readonly VectorId[]): VectorId[][] {
  return inGroups(ids, IDS_PER_READ);
}

async function readByIds(space: VectorSpace, ids: readonly VectorId[]): Promise<VectorizeVector[]> {
  const batches = inReadBatches(ids);
  const found = await mapConcurrent(batches, CONNECTIONS, (batch) => read(space.getByIds(batch)));
  return found.flat();
}

/** Returns the existing ones of `ids`, with the model that made each vector. */
export async function listVectorModels(space: VectorSpace, ids: readonly VectorId[]) {
  const found = await readByIds(space, ids);
  return new Map(found.map(({ id, metadata }) => [id, metadata?.["model"]]));
}

interface ReadVector extends Pick<SegmentVector, "kind" | "values" | "region"> {
  segmentId: SegmentId;
}

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

export async function deleteVectors(space: VectorSpace, ids: VectorId[]): Promise<void> {
  for (const group of inGroups(ids, IDS_PER_DELETE)) await space.deleteByIds(group);
}

export async function deleteVectorsOf({ text, image }: VectorPair, ids: readonly VectorId[]) {
  const textVectors = ids.filter((id) => !isImageVector(id));
  await deleteVectors(text, textVectors);
  await deleteVectors(image, ids.filter(isImageVector));
}

export function deleteSegmentVectors(pair: VectorPair, segmentIds: SegmentId[]): Promise<void> {
  return deleteVectorsOf(pair, segmentIds.flatMap(possibleIds));
}
