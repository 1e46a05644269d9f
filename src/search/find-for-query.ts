import { namesOf } from "../asset-names.ts";
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
  type FtsSearch,
  matchAll,
  matchAny,
} from "../store/index-database/fulltext.ts";
import type { DocumentFrequencies } from "../text/query-terms.ts";
import type { Timings } from "../timings.ts";
import { CALIBRATIONS, embeddingModels, selectEvidenceModels } from "./calibration.ts";
import { queryChannels, type SearchedVector } from "./channels.ts";
import {
  type ChannelHit,
  combineSignals,
  type FieldMatch,
  hasEnoughText,
  isFoundByText,
  matchFields,
  matchNames,
  scoreSignals,
  type SegmentFindings,
  type SegmentScore,
  textLength,
  toFullTextHits,
} from "./evidence.ts";
import { exampleFromTarget, type Feedback, readFeedback } from "./example.ts";
import { type EvidenceModels, nearestEntry, type Signals } from "./fuse.ts";
import { type HitAsset, toHitAsset } from "./hits.ts";
import { IndexGroup, listIndices, type SearchTarget, targetDatabases } from "./index-group.ts";
import { type CompiledQuery, compileQuery, type ExampleQuery, toFtsQuery } from "./query.ts";
import { type SearchRequest, type SearchScope, toSearchScope } from "./request.ts";
import { correctQuery } from "./spelling.ts";

/** A segment that at least one channel found, scored. */
export interface Candidate extends Omit<FoundSegment, "asset">, SegmentFindings, SegmentScore {
  asset: HitAsset;
  /** Hits requested from each channel in the pass that found the segment. */
  depth: number;
}

/** What is searched for: words, an example, or both, and the scope and depth of the search. */
export interface QuerySearch {
  text: string;
  example: ExampleQuery | null;
  /** Whether words that no segment has are corrected. */
  correct: boolean;
  scope: SearchScope;
  feedback: Feedback;
  /** Hits requested from each channel. */
  depth: number;
  /** Hits requested of the full text, if not as many. */
  fullTextDepth?: number;
  excludedIds: ReadonlySet<string>;
}

/** A pass of a search, with what an earlier pass has found out. */
interface SearchPass extends Omit<QuerySearch, "text" | "example" | "correct"> {
  query: CompiledQuery;
  /** Assets in which their names have counted. */
  namedIds?: ReadonlySet<string>;
  /** Whether the segments in scope have text. */
  hasText?: boolean;
  /** What was searched in more assets. */
  searched?: readonly SearchedVector[];
}

/** What was found for a query, the document frequencies of its terms, and what scores rest on. */
export interface QueryPass {
  query: CompiledQuery;
  /** The text that was searched for instead; null if it was searched as written. */
  corrected: string | null;
  candidates: Candidate[];
  /** What other segments are scored with. */
  models: EvidenceModels;
  searched: SearchedVector[];
  isExhaustive: boolean;
  hasText: boolean;
  frequencies: DocumentFrequencies;
}

/**
 * Makes the search for one thing of a request: for its text, its example, or both. `example` is an
 * uploaded one. The example itself and what the user has seen are left out. Throws `not_found` if
 * `similarTo`, `moreLike` or `lessLike` names nothing there.
 */
export async function toQuerySearch(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  uploadedExample: ExampleQuery | null = null,
): Promise<QuerySearch> {
  const example = (await exampleFromTarget(env, target, request.similarTo)) ?? uploadedExample;
  const { segmentId = null, assetId = null } = example?.exclude ?? {};
  const excludedIds = new Set<string>([...request.lessLike, ...request.skipped]);
  if (segmentId !== null) excludedIds.add(segmentId);
  return {
    text: request.query,
    example,
    correct: request.correct,
    scope: toSearchScope(request, assetId),
    feedback: await readFeedback(env, target, request),
    depth: SEARCH.maxCandidates,
    excludedIds,
  };
}

/**
 * Searches for one thing: compiles the query, finds candidates, and finds them once more if words
 * of the query are corrected. Every kind of search is made of such passes.
 */
export async function findForQuery(
  env: Env,
  target: SearchTarget,
  { text, example, correct, ...pass }: QuerySearch,
  timings: Timings,
): Promise<QueryPass> {
  const query = compileQuery(text, example);
  const found = await findCandidates(env, target, { ...pass, query }, timings);
  const corrected =
    correct && text !== ""
      ? await correctQuery(targetDatabases(env, target), text, query, found.frequencies)
      : null;
  if (corrected === null) return { ...found, corrected };
  const again = { ...pass, text: corrected, example, correct: false };
  return { ...(await findForQuery(env, target, again, timings)), corrected };
}

/**
 * Finds more candidates of a query than its search has found: deeper, or in some assets. They are
 * scored as in that search.
 */
export async function findMore(
  env: Env,
  target: SearchTarget,
  search: QuerySearch,
  { query, candidates, hasText, searched, isExhaustive }: QueryPass,
  {
    assetIds = search.scope.assets.assetIds,
    ...depths
  }: { assetIds?: readonly string[] } & Partial<Pick<QuerySearch, "depth" | "fullTextDepth">>,
  timings: Timings,
): Promise<Candidate[]> {
  if (isExhaustive) return [];
  const scope = { ...search.scope, assets: { ...search.scope.assets, assetIds } };
  const found = candidates.map(({ segment }) => segment.segmentId);
  const excludedIds = new Set([...search.excludedIds, ...found]);
  const namedIds = new Set(candidates.map(({ asset }) => asset.assetId));
  const known = { query, namedIds, hasText, searched };
  const pass = { ...search, ...depths, ...known, scope, excludedIds };
  return (await findCandidates(env, target, pass, timings)).candidates;
}

/**
 * Finds the scored segments among the best `depth` of each channel, in no order: those in scope,
 * with every phrase and no excluded term, and not in `excludedIds`.
 */
async function findCandidates(
  env: Env,
  target: SearchTarget,
  pass: SearchPass,
  timings: Timings,
): Promise<Omit<QueryPass, "corrected">> {
  const { scope, query, depth, fullTextDepth = depth } = pass;
  const databases = targetDatabases(env, target);
  const fullText = toFtsSearch(query, scope, fullTextDepth);
  const counting = countInDatabases(databases, fullText);
  counting.catch(ignoreUntilAwaited); // once the channels have answered
  const vectors = await queryChannels(env, target, pass, timings);
  const { segments, fullTextHits, frequencies } = await timings.time("hydrate", () =>
    findSegments(
      databases,
      {
        scope: scope.assets,
        fullText,
        ids: vectors.hits.map(({ segmentId }) => segmentId),
        excludedIds: [...pass.excludedIds],
        rules: toRules(query, scope),
      },
      counting,
    ),
  );
  if (segments.length === 0 && target instanceof IndexGroup) target.throwIfAllFailed();
  const termWeights = query.terms.weights(frequencies);
  const hits = [...toFullTextHits(fullTextHits, termWeights), ...vectors.hits];
  if (hits.length === 0 && vectors.outage) throw vectors.outage;
  const matching = { query, scope, termWeights, namedIds: pass.namedIds };
  const found = await matchSegments(segments, hits, matching, new TimeSlice());
  const withText = found.filter(({ signals }) => isFoundByText(signals)).length;
  const hasText =
    pass.hasText ?? (vectors.outage !== null || hasEnoughText(withText, found.length));
  const entry = nearestEntry(CALIBRATIONS, embeddingModels(env));
  const models = selectEvidenceModels(entry, query, hasText);
  const byId = new Map(listIndices(target).map((index) => [index.indexId, index]));
  const candidates = found.map((row): Candidate => {
    const asset = toHitAsset(row.asset, byId.get(row.segment.indexId)!);
    return Object.assign(row, { asset, depth, ...scoreSignals(row.signals, models) });
  });
  const isExhaustive = vectors.isExhaustive && fullTextHits.length < fullTextDepth;
  const { searched } = vectors;
  return { query, candidates, models, searched, isExhaustive, hasText, frequencies };
}

type MatchedSegment = FoundSegment & SegmentFindings & { signals: Signals };

interface Matching extends Pick<SearchPass, "query" | "scope"> {
  namedIds?: ReadonlySet<string> | undefined;
  termWeights: readonly number[];
  /** Whether the names of an asset count for all of its moments, not the best alone. */
  isNamedThroughout?: boolean;
}

/** Combines what the channels and the words of a query have found of segments. */
export async function matchSegments(
  segments: readonly FoundSegment[],
  hits: readonly ChannelHit[],
  { query, scope, termWeights, namedIds, isNamedThroughout = false }: Matching,
  slice: TimeSlice,
): Promise<MatchedSegment[]> {
  const hitsBySegment = Map.groupBy(hits, ({ segmentId }) => segmentId);
  const matched: MatchedSegment[] = [];
  for (const row of segments) {
    await slice.use(textLength(row.segment));
    const channelHits = hitsBySegment.get(row.segment.segmentId) ?? [];
    const fieldMatches = matchFields(row.segment, query.terms, scope);
    const signals = combineSignals(row.segment, channelHits, fieldMatches, termWeights);
    matched.push({ ...row, channelHits, fieldMatches, signals });
  }
  if (!scope.useNames) return matched;
  for (const moments of Map.groupBy(matched, ({ asset }) => asset.assetId).values()) {
    if (namedIds?.has(moments[0]!.asset.assetId)) continue;
    const names = namesOf(moments[0]!.asset);
    await slice.use(names.title.length + names.description.length);
    const matches = matchNames(names, moments[0]!.segment, query.terms);
    if (matches.length > 0) addNames(moments, matches, termWeights, isNamedThroughout);
  }
  return matched;
}

/** Names that match are found by full text alone: BM25 is as high as the coverage allows. */
const NAMED = { signals: { bm25_normalized: 1 }, evidence: null };

/**
 * Adds what the names of an asset match to its best moment, so that an asset which is found by them
 * is one hit, and to those whose own text has words that the names lack.
 */
function addNames(
  moments: readonly MatchedSegment[],
  names: readonly FieldMatch[],
  termWeights: readonly number[],
  isNamedThroughout: boolean,
): void {
  const named = new Set(names.flatMap(({ matches }) => matches.map(({ term }) => term)));
  const rank = ({ signals }: MatchedSegment) =>
    (signals.term_coverage ?? 0) + (signals.label_coverage ?? 0) + (signals.text_margin ?? -1);
  const [best] = moments.toSorted(
    (a, b) => rank(b) - rank(a) || (a.segment.startMs ?? 0) - (b.segment.startMs ?? 0),
  );
  for (const moment of moments) {
    const ownTerms = moment.fieldMatches.flatMap(({ matches }) => matches.map(({ term }) => term));
    const isMore = ownTerms.some((term) => !named.has(term));
    if (moment !== best && !isMore && !isNamedThroughout) continue;
    const fieldMatches = [...moment.fieldMatches, ...names];
    const hits = [...moment.channelHits, NAMED];
    const signals = combineSignals(moment.segment, hits, fieldMatches, termWeights);
    Object.assign(moment, { fieldMatches, signals });
  }
}

/** What the syntax of a query demands of a segment: each phrase, and no excluded term. */
export function toRules(
  query: CompiledQuery,
  { columns, useNames }: Pick<SearchScope, "columns" | "useNames">,
) {
  const { phrases, excluded } = toFtsQuery(query, query.terms);
  const must = matchAll(phrases);
  return {
    must: must !== null && columns.length > 0 ? columnFilter(must, columns) : null,
    mustOfNames: useNames ? must : null,
    mustNot: matchAny(excluded),
  };
}

/** Copies the fields that the index's database needs: a `CompiledQuery` can't be sent to it. */
export function toFtsSearch(
  query: CompiledQuery,
  { columns, useNames }: SearchScope,
  limit: number,
): FtsSearch {
  const { terms } = query;
  return { query: toFtsQuery(query, terms), tokens: terms.tokens, columns, useNames, limit };
}
