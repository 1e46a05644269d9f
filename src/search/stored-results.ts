import type { SegmentId } from "../ids.ts";
import { findSegments } from "../store/index-database/find-segments.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import type { NamedIndexRef } from "../types.ts";
import type { Facets } from "./aggregate/facets.ts";
import type { CalibrationState } from "./calibration.ts";
import { type Hit, type HitStep, toHitAsset } from "./hits.ts";
import type { QueryInterpretation } from "./query.ts";
import { makeSearchRequest, type RankPosition, toSearchScope } from "./request.ts";

/** Results of a queued search. Segments and assets are read again when the results are. */
export interface StoredResults {
  hits: (Omit<Hit, "segment" | "asset" | "steps"> & {
    segmentId: SegmentId;
    steps?: (Omit<HitStep, "segment"> & { segmentId: SegmentId })[];
  })[];
  indexName: string;
  /** Text of the query, and whether it had an example. Results of earlier versions have neither. */
  query?: string;
  isExample?: boolean;
  total: number;
  offset: number;
  readyBy: number;
  cursorTag: string;
  /** Where the next page begins; null on the last one. Results of earlier versions have none. */
  next?: RankPosition | null;
  /** Results of earlier versions don't have it. */
  interpretation?: QueryInterpretation;
  /** Number of hits on the page, before deleted ones were removed. */
  count: number;
  /** Results of earlier versions have none. */
  calibration?: CalibrationState;
  /** Results of earlier versions have none. */
  facets?: Facets;
}

export function saveResults(hits: Hit[], page: Omit<StoredResults, "hits">): StoredResults {
  const stored = hits.map((hit) => ({
    segmentId: hit.segment.segmentId,
    rank: hit.rank,
    score: hit.score,
    generalScore: hit.generalScore,
    signals: hit.signals,
    evidence: hit.evidence,
    timeRange: hit.timeRange,
    duplicates: hit.duplicates,
    boxes: hit.boxes,
    mask: hit.mask,
    ...(hit.steps && {
      steps: hit.steps.map(({ segment: { segmentId }, ...step }) => ({ ...step, segmentId })),
    }),
    ...(hit.conditions && { conditions: hit.conditions }),
  }));
  return { hits: stored, ...page };
}

/**
 * Returns the stored hits with current segments and assets. Those of which a segment was deleted
 * are left out.
 */
export async function loadResults(
  env: Env,
  index: NamedIndexRef,
  { hits }: Pick<StoredResults, "hits">,
): Promise<Hit[]> {
  const all = makeSearchRequest({ topK: hits.length });
  const ids = hits.flatMap(({ segmentId, steps = [] }) => [
    segmentId,
    ...steps.map((step) => step.segmentId),
  ]);
  const { segments } = await findSegments(indexDatabases(env, index), {
    scope: toSearchScope(all).assets,
    fullText: null,
    ids,
    excludedIds: [],
    rules: { must: null, mustNot: null },
  });
  const byId = new Map(segments.map((row) => [row.segment.segmentId, row]));
  return hits.flatMap(({ segmentId, steps: storedSteps = [], ...hit }) => {
    const row = byId.get(segmentId);
    const steps = storedSteps.flatMap(({ segmentId: id, ...step }): HitStep[] => {
      const found = byId.get(id);
      return found ? [Object.assign(step, { segment: found.segment })] : [];
    });
    if (!row || steps.length < storedSteps.length) return [];
    const asset = toHitAsset(row.asset, index);
    return [
      Object.assign(hit, { segment: row.segment, asset, ...(steps.length > 0 && { steps }) }),
    ];
  });
}
