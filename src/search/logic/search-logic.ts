import { assetKind } from "../../asset-kind.ts";
import { CONNECTIONS, mapConcurrent, TimeSlice } from "../../concurrency.ts";
import { SEARCH } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { SegmentId, VectorId } from "../../ids.ts";
import { maxOf } from "../../lists.ts";
import { LOGIC } from "../../parameters.ts";
import {
  findSegments,
  type FoundSegment,
  listNewestSegments,
  listSegmentTimes,
  readSegments,
  type SegmentPosition,
} from "../../store/index-database/find-segments.ts";
import { columnFilter, matchAll } from "../../store/index-database/fulltext.ts";
import { vectorPairs } from "../../store/vectorize/vector-pairs.ts";
import {
  imageIds,
  inReadBatches,
  readVectors,
  type VectorHit,
  vectorId,
} from "../../store/vectorize/vectors.ts";
import type { Timings } from "../../timings.ts";
import { type Segment, TEXT_KINDS, type VectorKind } from "../../types.ts";
import { toVectorHits, tryChannel } from "../channels.ts";
import {
  type ChannelHit,
  mergeEvidence,
  scoreSignals,
  textLength,
  toFullTextHits,
} from "../evidence.ts";
import { toUnit } from "../example.ts";
import {
  findForQuery,
  matchSegments,
  toFtsSearch,
  toQuerySearch,
  toRules,
} from "../find-for-query.ts";
import { rankCandidates, toHitAsset } from "../hits.ts";
import { listIndices, type SearchTarget, targetDatabases } from "../index-group.ts";
import { compileQuery, type QueryInterpretation, toInterpretation } from "../query.ts";
import { type SearchRequest, type SearchScope, toSearchScope, toSubrequest } from "../request.ts";
import { makeHits, type SearchResults, toResults } from "../results.ts";
import {
  type ConditionResult,
  type ConditionScores,
  conjunction,
  judgeOf,
  type LogicCondition,
  toConditionEvidence,
} from "./conditions.ts";

type Logic = NonNullable<SearchRequest["logic"]>;

/** Parts of a search that are searched for at a time. */
const CONCURRENCY = Math.floor(CONNECTIONS / 2);

/**
 * Finds the segments for which the query and all conditions hold together: the product of their
 * probabilities. Candidates come from the query and from `all`; each is scored for each condition.
 */
export async function searchLogic(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  logic: Logic,
  timings: Timings,
): Promise<SearchResults> {
  const conditions = await findConditions(env, target, request, logic, timings);
  const { scopeSeconds } = logic;
  const rows = await listLogicCandidates(env, target, request, scopeSeconds, conditions);
  const scopes = await findScopes(env, target, scopeSeconds, rows);
  const ids = [...new Set([...scopes.values()].flat())];
  const scores = await timings.time("conditions", () =>
    scoreConditions(env, target, conditions, ids),
  );
  const judges = conditions.map((condition, i) => judgeOf(condition, scores[i]!));
  const indices = new Map(listIndices(target).map((index) => [index.indexId, index]));
  const candidates = rows.flatMap(({ segment, keyframeHash, ...row }) => {
    const inScope = scopes.get(segment.segmentId);
    const parts = inScope ? judges.map((judge) => judge(inScope)) : [];
    const score = inScope ? conjunction(parts.map((part) => part.score)) : 0;
    if (score === 0) return [];
    const asset = toHitAsset(row.asset, indices.get(segment.indexId)!);
    const signals = conditions[0]!.kind === "none" ? {} : (parts[0]!.basis?.signals ?? {});
    return [{ segment, keyframeHash, asset, parts, score, signals, depth: LOGIC.candidateDepth }];
  });
  const ranked = rankCandidates(candidates, request);
  const query = conditions.find(({ kind }) => kind !== "none")?.pass.query ?? compileQuery("");
  const interpretation = toLogicInterpretation(conditions);
  const explainParts = ({ parts }: { parts: ConditionResult[] }, slice: TimeSlice) =>
    explain(conditions, parts, slice);
  return toResults(env, request, ranked, { query, interpretation }, (selected) =>
    makeHits(env, selected, request, query, explainParts, timings),
  );
}

/**
 * Searches for the query, if the request has one, and for each condition by itself, examples
 * included. Throws `not_found` if the example of one names nothing in the index.
 */
async function findConditions(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  { all, none }: Logic,
  timings: Timings,
): Promise<LogicCondition[]> {
  const { query, similarTo, modes } = request;
  const hasQuery = query !== "" || similarTo !== null;
  const parts = [
    ...(hasQuery ? [{ kind: "query" as const, subquery: { query, similarTo, modes } }] : []),
    ...all.map((subquery) => ({ kind: "all" as const, subquery })),
    ...none.map((subquery) => ({ kind: "none" as const, subquery })),
  ];
  return mapConcurrent(parts, CONCURRENCY, async ({ kind, subquery }): Promise<LogicCondition> => {
    const part =
      kind === "query" ? request : { ...toSubrequest(request, subquery), useBoxes: true };
    const scope = toSearchScope(part);
    const depth = kind === "none" ? SEARCH.maxCandidates : LOGIC.candidateDepth;
    const found = { ...(await toQuerySearch(env, target, part)), scope, depth };
    const excludedIds = new Set<string>();
    const pass = await findForQuery(env, target, { ...found, excludedIds }, timings);
    return { kind, subquery, scope, pass };
  });
}

function toLogicInterpretation(conditions: readonly LogicCondition[]): QueryInterpretation {
  const own = conditions.find(({ kind }) => kind === "query")?.pass;
  const correctedConditions = conditions.flatMap(({ kind, subquery, pass: { corrected } }) => {
    if (kind === "query" || corrected === null) return [];
    return [{ kind, query: subquery.query, corrected }];
  });
  const excluded = own?.query.excluded ?? [];
  return { ...toInterpretation({ excluded }, own?.corrected ?? null), correctedConditions };
}

/** Returns the segments in the scope of each candidate, as many candidates as are ranked. */
async function findScopes(
  env: Env,
  target: SearchTarget,
  scopeSeconds: number,
  rows: readonly { segment: SegmentPosition }[],
): Promise<Scopes> {
  const candidates = rows.map(({ segment }) => segment).slice(0, LOGIC.maxCandidates);
  if (scopeSeconds === 0) return makeScopes(candidates, [], 0);
  const ranges = candidates.flatMap(({ assetId, startMs, endMs }) => {
    if (startMs === null || endMs === null) return [];
    const marginMs = 1000 * scopeSeconds;
    return [{ assetId, startMs: startMs - marginMs, endMs: endMs + marginMs }];
  });
  const positions = await listSegmentTimes(targetDatabases(env, target), ranges);
  return makeScopes(candidates, positions, scopeSeconds);
}

/** The ids of the segments in the scope of each candidate: its own, then the nearest. */
type Scopes = Map<SegmentId, SegmentId[]>;

/**
 * Scores segments for each condition, whether its own search found them or not: by their text,
 * their BM25 and the cosines of their vectors. If Vectorize is unavailable, counts what its own
 * search found instead of cosines.
 */
async function scoreConditions(
  env: Env,
  target: SearchTarget,
  conditions: readonly LogicCondition[],
  ids: readonly SegmentId[],
): Promise<ConditionScores[]> {
  const found = await Promise.all(conditions.map((one) => readForCondition(env, target, one, ids)));
  const segments = new Map(
    found.flatMap((one) => one.segments.map(({ segment }) => [segment.segmentId, segment])),
  );
  const vectorHits = await tryChannel("logic_vectors", () =>
    compareStoredVectors(env, target, [...segments.values()], conditions),
  );
  const slice = new TimeSlice();
  return mapConcurrent([...conditions.entries()], 1, async ([i, { scope, pass }]) => {
    const { query, models, candidates, frequencies } = pass;
    const termWeights = query.terms.weights(frequencies);
    const hits = [
      ...toFullTextHits(found[i]!.fullTextHits, termWeights),
      ...(vectorHits instanceof AppError
        ? candidates.flatMap(({ channelHits }) => channelHits)
        : vectorHits[i]!),
    ];
    const matching = { query, scope, termWeights, isNamedThroughout: true };
    const matched = await matchSegments(found[i]!.segments, hits, matching, slice);
    return new Map(
      matched.map((row) => {
        return [row.segment.segmentId, { ...row, ...scoreSignals(row.signals, models) }];
      }),
    );
  });
}

/** Reads the segments that may meet a condition, and their BM25. */
async function readForCondition(
  env: Env,
  target: SearchTarget,
  { scope, pass: { query } }: LogicCondition,
  ids: readonly SegmentId[],
) {
  // An example without segments finds nothing.
  if (query.plainText === "" && query.example === null) return { segments: [], fullTextHits: [] };
  const fullText = { ...toFtsSearch(query, scope, ids.length), among: ids };
  const rules = toRules(query, scope);
  const databases = targetDatabases(env, target);
  return findSegments(databases, { scope: scope.assets, fullText, ids, excludedIds: [], rules });
}

/** Returns the ids of the vectors that a segment may have in a space. */
function storedVectorIds(space: "text" | "image", segment: Segment): VectorId[] {
  const { segmentId, caption, transcript, onScreenText, hasKeyframe, boxes } = segment;
  if (space === "image") {
    if (!hasKeyframe) return [];
    return boxes.length > 0 ? imageIds(segmentId) : [vectorId(segmentId, "image")];
  }
  const texts = { caption, speech: transcript, text: onScreenText };
  return TEXT_KINDS.filter((kind) => texts[kind] !== "").map((kind) => vectorId(segmentId, kind));
}

/**
 * Reads the vectors of segments, and compares them with what each condition was searched by. Throws
 * `upstream_unavailable`.
 */
async function compareStoredVectors(
  env: Env,
  target: SearchTarget,
  segments: readonly Segment[],
  conditions: readonly LogicCondition[],
): Promise<ChannelHit[][]> {
  const directions = conditions.map(({ scope, pass }) => {
    const kinds = new Set<VectorKind>([...scope.textKinds, "image", "region"]);
    return pass.searched.map((searched) => {
      return { ...searched, values: toUnit(searched.values), kinds, hits: [] as VectorHit[] };
    });
  });
  const reads = (["text", "image"] as const).flatMap((space) => {
    const compared = directions.flat().filter((direction) => direction.space === space);
    if (compared.length === 0) return [];
    return listIndices(target).flatMap((index) => {
      const own = segments.filter(({ indexId }) => indexId === index.indexId);
      const batches = inReadBatches(own.flatMap((segment) => storedVectorIds(space, segment)));
      return vectorPairs(env, index).flatMap((pair) =>
        batches.map((batch) => ({ compared, store: pair[space], batch })),
      );
    });
  });
  await mapConcurrent(reads, CONNECTIONS, async ({ compared, store, batch }) => {
    for (const { segmentId, kind, values } of await readVectors(store, batch)) {
      const stored = toUnit(values);
      const isRegion = kind === "region";
      for (const { kinds, values: direction, offset, hits } of compared) {
        if (!kinds.has(kind) || stored.length !== direction.length) continue;
        const product = stored.reduce((sum, value, i) => sum + value * direction[i]!, 0);
        const cosine = product - (isRegion ? SEARCH.regionPenalty : 0) + offset;
        hits.push({ segmentId, kind: isRegion ? "image" : kind, cosine });
      }
    }
  });
  return directions.map((own) =>
    own.flatMap(({ space, hits, mean }) => toVectorHits(space, hits, mean)),
  );
}

/** Makes the evidence of a hit, which without a query is that of `all`, and its conditions. */
async function explain(
  conditions: readonly LogicCondition[],
  parts: readonly ConditionResult[],
  slice: TimeSlice,
) {
  for (const { basis } of parts) await slice.use(basis ? textLength(basis.segment) : 0);
  const all = conditions.map((condition, i) => {
    const { kind, subquery, pass } = condition;
    const evidence = toConditionEvidence(condition, parts[i]!);
    const query = (pass.corrected ?? subquery.query) || null;
    return { kind, query, similarTo: subquery.similarTo, score: parts[i]!.score, evidence };
  });
  const required = all.filter(({ kind }) => kind === "all");
  return {
    evidence:
      all.find(({ kind }) => kind === "query")?.evidence ??
      mergeEvidence(required.flatMap(({ evidence }) => evidence)),
    conditions: all.flatMap(({ kind, ...condition }) =>
      kind === "query" ? [] : [{ kind, ...condition }],
    ),
  };
}

/**
 * Lists the segments that may be hits, the likeliest first: those that the query or any of `all`
 * finds, except examples, `less_like` and `skipped`. With `none` alone, those of the assets added
 * last that don't have its words.
 */
async function listLogicCandidates(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  scopeSeconds: number,
  conditions: readonly LogicCondition[],
): Promise<FoundSegment[]> {
  const scope = toSearchScope(request);
  const wanted = conditions.filter(({ kind }) => kind !== "none");
  if (wanted.length === 0) return listWithout(env, target, scope, conditions);
  const excluded = new Set<string>([...request.lessLike, ...request.skipped]);
  for (const { pass } of wanted) {
    const { segmentId = null, assetId = null } = pass.query.example?.exclude ?? {};
    for (const id of [segmentId, assetId]) if (id !== null) excluded.add(id);
  }
  const found = new Map<SegmentId, { row: FoundSegment; estimate: number }>();
  const estimate = estimatorOf(conditions, scopeSeconds);
  for (const row of wanted.flatMap(({ pass }) => pass.candidates)) {
    const { segment, asset } = row;
    if (excluded.has(segment.segmentId) || excluded.has(asset.assetId)) continue;
    if (!scope.assets.kinds.includes(assetKind(asset)) || found.has(segment.segmentId)) continue;
    found.set(segment.segmentId, { row, estimate: estimate(segment) });
  }
  const byId = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
  return [...found]
    .toSorted((a, b) => b[1].estimate - a[1].estimate || byId(a, b))
    .map(([, { row }]) => row);
}

/**
 * Estimates the probability of a hit by what the searches of all conditions found. A segment that
 * one didn't find counts as one in which nothing speaks for it.
 */
function estimatorOf(conditions: readonly LogicCondition[], scopeSeconds: number) {
  const parts = conditions.map(({ kind, pass }) => {
    const background = scoreSignals({}, pass.models).score;
    const byAsset = Map.groupBy(pass.candidates, ({ segment }) => segment.assetId);
    const seconds = kind === "query" ? 0 : scopeSeconds;
    return (segment: SegmentPosition) => {
      const others = byAsset.get(segment.assetId) ?? [];
      const near = others.filter((other) => isWithinScope(segment, other.segment, seconds));
      const presence = maxOf(
        near.map(({ score }) => score),
        background,
      );
      return kind === "none" ? 1 - presence : presence;
    };
  });
  return (segment: SegmentPosition) => conjunction(parts.map((part) => part(segment)));
}

async function listWithout(
  env: Env,
  target: SearchTarget,
  scope: SearchScope,
  conditions: readonly LogicCondition[],
): Promise<FoundSegment[]> {
  const databases = targetDatabases(env, target);
  const expressions = conditions.flatMap(({ pass: { query }, scope: { columns } }) => {
    const words = query.plainText === "" ? null : matchAll(query.terms.formsByTerm);
    return words === null ? [] : [`(${columnFilter(words, columns)})`];
  });
  const without = expressions.length > 0 ? expressions.join(" OR ") : null;
  const ids = await listNewestSegments(databases, scope.assets, without, LOGIC.maxCandidates);
  return readSegments(databases, scope.assets, ids);
}

/**
 * Makes the scope of each candidate: the segments of its video within `scopeSeconds` of it, at most
 * `maxNeighbours`, the nearest ones. Takes candidates in order until there are `maxCandidates`, or
 * `maxScored` segments in all scopes together.
 */
export function makeScopes(
  candidates: readonly SegmentPosition[],
  positions: readonly SegmentPosition[],
  scopeSeconds: number,
  limits: Record<"maxCandidates" | "maxScored" | "maxNeighbours", number> = LOGIC,
): Scopes {
  const byAsset = Map.groupBy(positions, ({ assetId }) => assetId);
  const scopes: Scopes = new Map();
  const scored = new Set<SegmentId>();
  for (const candidate of candidates.slice(0, limits.maxCandidates)) {
    const neighbours = (byAsset.get(candidate.assetId) ?? [])
      .filter((position) => position.segmentId !== candidate.segmentId)
      .filter((position) => isWithinScope(candidate, position, scopeSeconds))
      .toSorted((a, b) => gapMs(candidate, a) - gapMs(candidate, b))
      .slice(0, limits.maxNeighbours);
    const scope = [candidate, ...neighbours].map(({ segmentId }) => segmentId);
    const added = scope.filter((id) => !scored.has(id));
    if (scored.size + added.length > limits.maxScored) break;
    for (const id of added) scored.add(id);
    scopes.set(candidate.segmentId, scope);
  }
  return scopes;
}

/** Tests whether two segments are one, or of one video and at most `scopeSeconds` apart. */
export function isWithinScope(a: SegmentPosition, b: SegmentPosition, scopeSeconds: number) {
  if (a.segmentId === b.segmentId) return true;
  return scopeSeconds > 0 && a.assetId === b.assetId && gapMs(a, b) <= 1000 * scopeSeconds;
}

/** Time between two segments; 0 if they overlap or meet, and infinite for images. */
function gapMs(a: SegmentPosition, b: SegmentPosition): number {
  const isTimed = a.startMs !== null && b.startMs !== null;
  return isTimed ? Math.max(0, a.startMs! - b.endMs!, b.startMs! - a.endMs!) : Infinity;
}
