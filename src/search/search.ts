import { TimeSlice } from "../concurrency.ts";
import { SEARCH } from "../config.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import {
  countInDatabases,
  findSegments,
  type FoundSegment,
} from "../store/index-database/find-segments.ts";
import {
  columnFilter,
  type DocumentFrequencies,
  type FtsSearch,
  matchAll,
  matchAny,
} from "../store/index-database/fulltext.ts";
import { Timings } from "../timings.ts";
import type { Facets } from "./aggregate/facets.ts";
import { nearestEntry } from "./calibration-entry.ts";
import {
  CALIBRATIONS,
  type CalibrationState,
  currentLine,
  embeddingModels,
  selectEvidenceModels,
} from "./calibration.ts";
import { queryChannels, type SearchedVector } from "./channels.ts";
import { matchFields, textLength } from "./evidence.ts";
import { exampleFromTarget } from "./example.ts";
import { type Feedback, readFeedback } from "./feedback.ts";
import { toFullTextHits } from "./full-text-hits.ts";
import type { Signals } from "./fuse.ts";
import { type Hit, type HitAsset, rankCandidates, takePage, toHitAsset } from "./hits.ts";
import {
  IndexGroup,
  listIndices,
  type SearchTarget,
  targetCalibration,
  targetDatabases,
} from "./index-group.ts";
import { localizeHits, type UnlocalizedHit } from "./localization.ts";
import {
  type CompiledQuery,
  compileQuery,
  type ExampleQuery,
  type QueryInterpretation,
  toFtsQuery,
} from "./query.ts";
import {
  type RankPosition,
  type SearchRequest,
  type SearchScope,
  toSearchScope,
} from "./request.ts";
import {
  combineSignals,
  hasEnoughText,
  isFoundByText,
  type ScoreContext,
  scoreSignals,
  type SegmentFindings,
  type SegmentScore,
  toEvidence,
} from "./score-segment.ts";
import { correctQuery } from "./spelling.ts";

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

/**
 * Searches one or several indices by text, by example, or both: full text, text vectors, image
 * vectors and copies, each over-fetched. If the best candidates of each channel don't fill the
 * page, a deeper pass adds more behind them, so that earlier pages keep their order. Throws
 * `not_found` if `similarTo` names nothing there.
 */
export async function search(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  uploadedExample: ExampleQuery | null = null,
  timings = new Timings(),
): Promise<SearchResults> {
  const { similarTo, offset, topK } = request;
  const example =
    similarTo === null ? uploadedExample : await exampleFromTarget(env, target, similarTo);
  let query = compileQuery(request.query, example);
  const { segmentId = null, assetId = null } = example?.exclude ?? {};
  const scope = toSearchScope(request, assetId);
  const excludedIds = new Set<string>(segmentId === null ? [] : [segmentId]);
  const feedback = await readFeedback(env, target, request);
  for (const id of [...request.lessLike, ...request.skipped]) excludedIds.add(id);
  const findAtDepth = (depth: number, hasText?: boolean) => {
    const pass = { scope, query, feedback, depth, excludedIds, hasText };
    return findCandidates(env, target, pass, timings);
  };

  const depth = Math.max(SEARCH.maxCandidates, topK);
  let pass = await findAtDepth(depth);
  const corrected = request.correct
    ? await correctQuery(targetDatabases(env, target), request.query, query, pass.frequencies)
    : null;
  if (corrected !== null) {
    query = compileQuery(corrected, example);
    pass = await findAtDepth(depth);
  }
  const { candidates, isExhaustive, hasText } = pass;
  let ranked = rankCandidates(candidates, request);
  if (!isExhaustive && ranked.length <= offset + topK) {
    for (const { segment } of candidates) excludedIds.add(segment.segmentId);
    const deeper = await findAtDepth(SEARCH.deepeningFactor * depth, hasText);
    ranked = rankCandidates([...candidates, ...deeper.candidates], request);
  }
  const { selected, total, next, facets } = takePage(ranked, request);
  const slice = new TimeSlice();
  const page: UnlocalizedHit[] = [];
  for (const { candidate, duplicates } of selected) {
    await slice.use(textLength(candidate.segment));
    const { segment, asset, score, generalScore, signals, channelHits } = candidate;
    const timeRange = channelHits.find((hit) => hit.timeRange)?.timeRange ?? null;
    const evidence = toEvidence(candidate, query);
    const rank = offset + page.length + 1;
    const scores = { score, generalScore, signals };
    page.push({ segment, asset, rank, ...scores, evidence, timeRange, duplicates });
  }
  const hits = await timings.time("localize", () => localizeHits(env, page, query, request));
  const excluded = query.excluded.map((words) => words.join(" "));
  const interpretation = { excluded, corrected };
  const calibration = targetCalibration(env, target);
  return { hits, total, next, facets, query, calibration, interpretation };
}

/** A segment that at least one channel found, scored. */
export interface Candidate extends Omit<FoundSegment, "asset">, SegmentFindings, SegmentScore {
  asset: HitAsset;
  /** Hits requested from each channel in the pass that found the segment. */
  depth: number;
}

/** A pass of a search: what to find, and how deep. */
interface SearchPass {
  scope: SearchScope;
  query: CompiledQuery;
  feedback: Feedback;
  /** Hits requested from each channel. */
  depth: number;
  /** Hits requested of the full text, if not as many. */
  fullTextDepth?: number;
  excludedIds: ReadonlySet<string>;
  /** Whether the segments in scope have text, if an earlier pass has found that out. */
  hasText?: boolean | undefined;
  /** What an earlier pass in more assets searched. */
  searched?: readonly SearchedVector[];
}

/** What a pass found, the document frequencies of the query's terms, and what scores rest on. */
export interface PassResult {
  candidates: Candidate[];
  /** What other segments are scored with. The general line, if indices have lines of their own. */
  context: ScoreContext;
  searched: SearchedVector[];
  isExhaustive: boolean;
  hasText: boolean;
  frequencies: DocumentFrequencies;
}

/**
 * Returns the scored segments among the best `depth` of each channel, in no order: those in scope,
 * with every phrase and no excluded term, and not in `excludedIds`.
 */
export async function findCandidates(
  env: Env,
  target: SearchTarget,
  pass: SearchPass,
  timings: Timings,
): Promise<PassResult> {
  const { scope, query, feedback, depth, fullTextDepth = depth, excludedIds } = pass;
  const databases = targetDatabases(env, target);
  const fullText = toFtsSearch(query, scope, fullTextDepth);
  const counting = countInDatabases(databases, fullText);
  counting.catch(ignoreUntilAwaited); // once the channels have answered
  const vectors = await queryChannels(
    env,
    target,
    { scope, query, feedback, count: depth, searched: pass.searched },
    timings,
  );
  const { phrases: required, excluded } = toFtsQuery(query, query.terms);
  const phrases = matchAll(required);
  const must = phrases && columnFilter(phrases, scope.columns);
  const { segments, fullTextHits, frequencies } = await timings.time("hydrate", () =>
    findSegments(
      databases,
      {
        scope: scope.assets,
        fullText,
        ids: vectors.hits.map(({ segmentId }) => segmentId),
        excludedIds: [...excludedIds],
        rules: { must, mustNot: matchAny(excluded) },
      },
      counting,
    ),
  );
  if (segments.length === 0 && target instanceof IndexGroup) target.throwIfAllFailed();
  const termWeights = query.terms.weights(frequencies);
  const hits = [...toFullTextHits(fullTextHits, termWeights), ...vectors.hits];
  if (hits.length === 0 && vectors.outage) throw vectors.outage;
  const hitsBySegment = Map.groupBy(hits, ({ segmentId }) => segmentId);
  const slice = new TimeSlice();
  const found: (FoundSegment & SegmentFindings & { signals: Signals })[] = [];
  for (const row of segments) {
    await slice.use(textLength(row.segment));
    const channelHits = hitsBySegment.get(row.segment.segmentId)!;
    const fieldMatches = matchFields(row.segment, query.terms, scope);
    const signals = combineSignals(row.segment, channelHits, fieldMatches, termWeights);
    found.push(Object.assign(row, { channelHits, fieldMatches, signals }));
  }
  const withText = found.filter(({ signals }) => isFoundByText(signals)).length;
  const hasText =
    pass.hasText ?? (vectors.outage !== null || hasEnoughText(withText, found.length));
  const entry = nearestEntry(CALIBRATIONS, embeddingModels(env));
  const models = selectEvidenceModels(entry, query, hasText);
  const lines = listIndices(target).map(({ calibration }) => currentLine(env, calibration));
  const byId = new Map(
    listIndices(target).map((index, i) => [index.indexId, { index, line: lines[i]! }]),
  );
  const candidates = found.map((row): Candidate => {
    const { index, line } = byId.get(row.segment.indexId)!;
    const asset = toHitAsset(row.asset, index);
    return Object.assign(row, { asset, depth, ...scoreSignals(row.signals, { models, line }) });
  });
  const isExhaustive = vectors.isExhaustive && fullTextHits.length < fullTextDepth;
  const [line = null] = lines;
  const context = { models, line: lines.every((one) => one === line) ? line : null };
  const { searched } = vectors;
  return { candidates, context, searched, isExhaustive, hasText, frequencies };
}

/** Copies the fields that the index's database needs: a `CompiledQuery` can't be sent to it. */
export function toFtsSearch(
  query: CompiledQuery,
  { columns }: SearchScope,
  limit: number,
): FtsSearch {
  const { terms } = query;
  return { query: toFtsQuery(query, terms), tokens: terms.tokens, columns, limit };
}
