import type { IndexId, SegmentId } from "../ids.ts";
import { listSegmentsInScope } from "../store/segments.ts";
import type { Hit } from "./hits.ts";
import { scopeOf, searchFor } from "./request.ts";

/** The answer to a search that nobody waited for, without what may change until it is read. */
export interface KeptHits {
  hits: (Omit<Hit, "segment" | "asset"> & { segmentId: SegmentId })[];
  total: number;
  offset: number;
  readyBy: number;
  /** How many hits the page had; of a search without further pages, the total. */
  count: number;
}

export function keepHits(hits: Hit[], page: Omit<KeptHits, "hits">): KeptHits {
  const kept = hits.map((hit) => ({
    segmentId: hit.segment.segmentId,
    rank: hit.rank,
    score: hit.score,
    signals: hit.signals,
    evidence: hit.evidence,
    span: hit.span,
    duplicates: hit.duplicates,
    boxes: hit.boxes,
    mask: hit.mask,
  }));
  return { hits: kept, ...page };
}

/** The hits as they are now, less what was deleted meanwhile. */
export async function readHits(
  db: D1Database,
  indexId: IndexId,
  { hits }: KeptHits,
): Promise<Hit[]> {
  const all = searchFor({ topK: hits.length });
  const ids = hits.map(({ segmentId }) => segmentId);
  const { assets } = scopeOf(indexId, all);
  const rules = { must: null, mustNot: null };
  const { segments } = await listSegmentsInScope(db, ids, assets, rules);
  const byId = new Map(segments.map((row) => [row.segment.segmentId, row]));
  return hits.flatMap(({ segmentId, ...hit }) => {
    const row = byId.get(segmentId);
    return row ? [Object.assign(hit, { segment: row.segment, asset: row.asset })] : [];
  });
}
