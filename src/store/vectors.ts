import { CONNECTIONS, mapAtOnce } from "../at-once.ts";
import { INGEST, SEARCH } from "../config.ts";
import { AppError, causeOf } from "../errors.ts";
import { type IndexId, ours, type SegmentId, type VectorId } from "../ids.ts";
import { type Segment, TEXT_KINDS, type TextKind, type VectorKind } from "../types.ts";

/** `{segment}:{kind}`, so that writing a vector twice is writing it once. */
export function vectorId(segmentId: SegmentId, kind: Exclude<VectorKind, "region">): VectorId {
  return `${segmentId}:${kind}`;
}

/** The segment that a vector is of, by its id as Vectorize or a finding has it; a segment's own is itself. */
export function segmentOf(id: string): SegmentId {
  return ours(id.split(":")[0]!);
}

/** Of all the regions that a segment may have: `{segment}:region-1` and so on. */
export function regionIds(segmentId: SegmentId): VectorId[] {
  return Array.from(
    { length: INGEST.regions.most },
    (_, i): VectorId => `${segmentId}:region-${i + 1}`,
  );
}

/** All ids that a segment may have in the text space. */
export function textIds(segmentId: SegmentId): VectorId[] {
  return TEXT_KINDS.map((kind) => vectorId(segmentId, kind));
}

/** All ids that a segment may have in the picture space. */
export function pictureIds(segmentId: SegmentId): VectorId[] {
  return [vectorId(segmentId, "picture"), ...regionIds(segmentId)];
}

export interface SegmentVector {
  segment: Segment;
  kind: VectorKind;
  /** Of a region: which of its segment's, from 0. */
  region?: number;
  values: number[];
  model: string;
}

/** What Vectorize gives a call by ids. */
const READ_IDS = 20;

/** Vectorize's code for vectors of another length than the index was made for. */
const WRONG_DIMENSIONS = /\b40012\b/;

/**
 * Writes vectors into the namespace of their media index. They show up after a few seconds. Throws
 * `model_refused` where the index was made for vectors of another length.
 */
export async function upsertVectors(
  space: VectorizeIndex,
  vectors: SegmentVector[],
  assetType: string,
): Promise<void> {
  const rows = vectors.map(({ segment, kind, region, values, model }) => ({
    id:
      kind === "region"
        ? regionIds(segment.segmentId)[region!]!
        : vectorId(segment.segmentId, kind),
    namespace: segment.indexId,
    values,
    metadata: {
      asset_id: segment.assetId,
      asset_type: assetType,
      kind,
      start: segment.startMs ?? 0,
      model,
    },
  }));
  try {
    for (let i = 0; i < rows.length; i += 1000) await space.upsert(rows.slice(i, i + 1000));
  } catch (cause) {
    if (!WRONG_DIMENSIONS.test(causeOf(cause))) throw cause;
    const [first] = vectors;
    const message = `The vectors of ${first!.model} have ${first!.values.length} dimensions, and the Vectorize index was made for another number: docs/operate.md.`;
    throw new AppError("model_refused", message, { cause });
  }
}

/** What is read from an index of vectors. Throws `upstream_unavailable` where it fails. */
async function reading<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const message = "The index of vectors does not answer; try again.";
    throw new AppError("upstream_unavailable", message, { cause });
  }
}

export interface VectorHit {
  segmentId: SegmentId;
  /** A region counts as the picture that it is of. */
  kind: TextKind | "picture";
  /** Of query and vector, a region's less `SEARCH.regionHandicap`. */
  cosine: number;
}

export async function queryVectors(
  space: VectorizeIndex,
  indexId: IndexId,
  values: number[],
  topK: number,
  filter: VectorizeVectorMetadataFilter,
): Promise<VectorHit[]> {
  const { matches } = await reading(space.query(values, { topK, namespace: indexId, filter }));
  return matches.map(({ id, score }) => {
    const segmentId = segmentOf(id);
    const kind = id.slice(segmentId.length + 1);
    return kind.startsWith("region-")
      ? { segmentId, kind: "picture", cosine: score - SEARCH.regionHandicap }
      : { segmentId, kind: kind as TextKind | "picture", cosine: score };
  });
}

/** The vectors of a kind that are there of at most 20 segments, which is what Vectorize gives a call. */
export async function getVectors(
  space: VectorizeIndex,
  segmentIds: SegmentId[],
  kind: Exclude<VectorKind, "region">,
): Promise<number[][]> {
  const found = await reading(space.getByIds(segmentIds.map((id) => vectorId(id, kind))));
  return found.map(({ values }) => Array.from(values));
}

/** Which of the vectors there are, by the models that made them. */
export async function listVectorModels(
  space: VectorizeIndex,
  ids: readonly VectorId[],
): Promise<Map<string, unknown>> {
  const calls = Array.from({ length: Math.ceil(ids.length / READ_IDS) }, (_, i) =>
    ids.slice(i * READ_IDS, (i + 1) * READ_IDS),
  );
  const found = await mapAtOnce(calls, CONNECTIONS, (some) => reading(space.getByIds(some)));
  return new Map(found.flat().map(({ id, metadata }) => [id, metadata?.["model"]]));
}

/** Vectorize takes 100 ids a call. */
export async function deleteVectors(space: VectorizeIndex, ids: VectorId[]): Promise<void> {
  for (let i = 0; i < ids.length; i += 100) await space.deleteByIds(ids.slice(i, i + 100));
}

/** All vectors of segments go. */
export async function forgetVectors(
  env: Pick<Env, "TEXT_VECTORS" | "PICTURE_VECTORS">,
  segmentIds: SegmentId[],
): Promise<void> {
  await deleteVectors(env.TEXT_VECTORS, segmentIds.flatMap(textIds));
  await deleteVectors(env.PICTURE_VECTORS, segmentIds.flatMap(pictureIds));
}

/** The ids of vectors of an index, at most 100, those nearest to `values` first. */
export async function listNearby(
  space: VectorizeIndex,
  indexId: IndexId,
  values: number[],
): Promise<VectorId[]> {
  const topK = SEARCH.maxCandidates;
  const options = { topK, namespace: indexId, returnMetadata: "none" } as const;
  const { matches } = await reading(space.query(values, options));
  return matches.map(({ id }) => ours(id));
}
