import { TimeSlice } from "../concurrency.ts";
import type { SegmentId } from "../ids.ts";
import { readSegments } from "../store/index-database/find-segments.ts";
import type { Facets } from "../store/index-database/groups.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import type { Timings } from "../timings.ts";
import type { NamedIndexRef } from "../types.ts";
import { type CalibrationState, calibrationState } from "./calibration.ts";
import { textLength, toEvidence } from "./evidence.ts";
import type { Candidate } from "./find-for-query.ts";
import { type Hit, type HitStep, type RankedCandidate, takePage, toHitAsset } from "./hits.ts";
import { localizeHits, type UnlocalizedHit } from "./localization.ts";
import type { CompiledQuery, QueryInterpretation } from "./query.ts";
import {
  makeSearchRequest,
  type RankPosition,
  type SearchRequest,
  toSearchScope,
} from "./request.ts";

/** A page of hits, best first, and the number of hits on all pages. */
export interface SearchResults {
  hits: Hit[];
  total: number;
  /** Where the next page begins; null on the last one. */
  next: RankPosition | null;
  query: CompiledQuery;
  interpretation: QueryInterpretation;
  calibration: CalibrationState;
  /** Counts of the hits on all pages. */
  facets: Facets;
}

/** What a page of results has beside its hits, as it is sent and stored. */
export interface ResultPage
  extends
    Pick<SearchRequest, "offset" | "readyBy" | "cursorTag">,
    Omit<SearchResults, "hits" | "query"> {
  /** Number of hits on the page. */
  count: number;
}

export function toPage(
  { offset, readyBy, cursorTag }: SearchRequest,
  { hits, query: _query, ...found }: SearchResults,
): ResultPage {
  return { offset, readyBy, cursorTag, count: hits.length, ...found };
}

/** Makes the results of ranked candidates, of which `toHits` makes the hits of the page. */
export async function toResults<T extends RankedCandidate>(
  env: Env,
  request: SearchRequest,
  ranked: readonly T[],
  read: Pick<SearchResults, "query" | "interpretation">,
  toHits: (selected: T[]) => Promise<Hit[]>,
): Promise<SearchResults> {
  const { selected, ...page } = takePage(ranked, request);
  return { hits: await toHits(selected), ...page, ...read, calibration: calibrationState(env) };
}

type Explanation = Pick<UnlocalizedHit, "evidence" | "conditions"> &
  Partial<Pick<UnlocalizedHit, "timeRange">>;

/** Makes the hits of a page, in order, with the boxes and masks of what `query` names. */
export async function makeHits<
  C extends Pick<Candidate, "segment" | "asset" | "score" | "signals">,
>(
  env: Env,
  selected: readonly { candidate: C; duplicates: string[] }[],
  request: SearchRequest,
  query: CompiledQuery,
  explain: (candidate: C, slice: TimeSlice) => Promise<Explanation>,
  timings: Timings,
): Promise<Hit[]> {
  const slice = new TimeSlice();
  const page: UnlocalizedHit[] = [];
  for (const { candidate, duplicates } of selected) {
    const { segment, asset, score, signals } = candidate;
    const rank = request.offset + page.length + 1;
    const explanation = { timeRange: null, ...(await explain(candidate, slice)) };
    page.push({ segment, asset, rank, score, signals, duplicates, ...explanation });
  }
  return timings.time("localize", () => localizeHits(env, page, query, request));
}

export function explainBy(query: CompiledQuery) {
  return async (candidate: Candidate, slice: TimeSlice): Promise<Explanation> => {
    await slice.use(textLength(candidate.segment));
    return explainCandidate(candidate, query);
  };
}

/** Returns the evidence of a candidate, and the part of the video that matches. */
export function explainCandidate(
  candidate: Pick<Candidate, "channelHits" | "fieldMatches">,
  query: CompiledQuery,
) {
  const timeRange = candidate.channelHits.find((hit) => hit.timeRange)?.timeRange ?? null;
  return { evidence: toEvidence(candidate, query), timeRange };
}

/** Results of a queued search. Segments and assets are read again when the results are. */
export interface StoredResults extends ResultPage {
  hits: (Omit<Hit, "segment" | "asset" | "steps"> & {
    segmentId: SegmentId;
    steps?: (Omit<HitStep, "segment"> & { segmentId: SegmentId })[];
  })[];
  indexName: string;
  /** Text of the query, and whether it had an example. */
  query: string;
  isExample: boolean;
}

export function saveResults(hits: Hit[], page: Omit<StoredResults, "hits">): StoredResults {
  const stored = hits.map(({ segment: { segmentId }, asset: _asset, steps, ...hit }) => ({
    segmentId,
    ...hit,
    ...(steps && {
      steps: steps.map(({ segment, ...step }) => ({ ...step, segmentId: segment.segmentId })),
    }),
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
  const ids = hits.flatMap(({ segmentId, steps = [] }) => [
    segmentId,
    ...steps.map((step) => step.segmentId),
  ]);
  const segments = await readSegments(
    indexDatabases(env, index),
    toSearchScope(makeSearchRequest()).assets,
    ids,
  );
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
