import { listSegmentsInScope } from "../store/segments.ts";
import type { Evidence } from "./evidence.ts";
import type { Hit } from "./hits.ts";
import { scopeOf, type SearchRequest } from "./request.ts";

/** The answer to a search that nobody waited for, without what may change until it is read. */
export interface KeptHits {
  hits: (Pick<Hit, "rank" | "score" | "boxes"> & { segmentId: string; evidence: Evidence[] })[];
  total: number;
  offset: number;
  readyBy: number;
}

export function keepHits(
  hits: Hit[],
  total: number,
  { offset, readyBy }: Pick<SearchRequest, "offset" | "readyBy">,
): KeptHits {
  const kept = hits.map(({ segment: { segmentId }, rank, score, boxes, evidence }) => {
    return { segmentId, rank, score, boxes, evidence };
  });
  return { hits: kept, total, offset, readyBy };
}

/** The hits as they are now, less what was deleted meanwhile. */
export async function readHits(
  db: D1Database,
  indexId: string,
  { hits }: KeptHits,
): Promise<Hit[]> {
  const all = { modes: [], assetIds: [], conditions: [], readyBy: Date.now() };
  const ids = hits.map(({ segmentId }) => segmentId);
  const { assets } = scopeOf(indexId, all);
  const rows = await listSegmentsInScope(db, ids, assets, { must: null, mustNot: null });
  const byId = new Map(rows.map((row) => [row.segment.segmentId, row]));
  return hits.flatMap(({ segmentId, ...hit }) => {
    const row = byId.get(segmentId);
    return row ? [Object.assign(hit, row)] : [];
  });
}
