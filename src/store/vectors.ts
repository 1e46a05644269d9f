import type { Segment, VectorKind } from "../types.ts";

/** `{segment}:{kind}`, so that writing a vector twice is writing it once. */
export function vectorId(segmentId: string, kind: VectorKind): string {
  return `${segmentId}:${kind}`;
}

export interface SegmentVector {
  segment: Segment;
  kind: VectorKind;
  values: number[];
  model: string;
}

/** Writes vectors into the namespace of their media index. They show up after a few seconds. */
export async function upsertVectors(
  space: VectorizeIndex,
  vectors: SegmentVector[],
  assetType: string,
): Promise<void> {
  for (let i = 0; i < vectors.length; i += 1000) {
    await space.upsert(
      vectors.slice(i, i + 1000).map(({ segment, kind, values, model }) => ({
        id: vectorId(segment.segmentId, kind),
        namespace: segment.indexId,
        values,
        metadata: {
          asset_id: segment.assetId,
          asset_type: assetType,
          kind,
          start: segment.startMs ?? 0,
          model,
        },
      })),
    );
  }
}

export interface VectorHit {
  segmentId: string;
  kind: VectorKind;
  /** Cosine of query and vector. */
  cosine: number;
}

export async function queryVectors(
  space: VectorizeIndex,
  indexId: string,
  values: number[],
  topK: number,
  filter: VectorizeVectorMetadataFilter,
): Promise<VectorHit[]> {
  const { matches } = await space.query(values, { topK, namespace: indexId, filter });
  return matches.map(({ id, score }) => {
    const [segmentId = "", kind = ""] = id.split(":");
    return { segmentId, kind: kind as VectorKind, cosine: score };
  });
}

/** Vectorize takes 100 ids a call. */
export async function deleteVectors(space: VectorizeIndex, ids: string[]): Promise<void> {
  for (let i = 0; i < ids.length; i += 100) await space.deleteByIds(ids.slice(i, i + 100));
}
