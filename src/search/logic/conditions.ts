import { TimeSlice } from "../../concurrency.ts";
import { AppError } from "../../errors.ts";
import type { SegmentId } from "../../ids.ts";
import { findSegments, type FoundSegment } from "../../store/index-database/find-segments.ts";
import { columnFilter, matchAll, matchAny } from "../../store/index-database/fulltext.ts";
import type { VectorKind } from "../../types.ts";
import { type ChannelHit, moveCosines, toVectorHits, tryChannel } from "../channels.ts";
import { matchFields, textLength } from "../evidence.ts";
import { toFullTextHits } from "../full-text-hits.ts";
import { type SearchTarget, targetDatabases } from "../index-group.ts";
import { type CompiledQuery, toFtsQuery } from "../query.ts";
import type { SearchScope } from "../request.ts";
import {
  combineSignals,
  type SegmentFindings,
  type SegmentScore,
  scoreSignals,
} from "../score-segment.ts";
import { type PassResult, toFtsSearch } from "../search.ts";
import type { Subquery } from "../subquery.ts";
import { toUnit } from "../watches/near-vectors.ts";
import { compareStoredVectors } from "./compare-vectors.ts";

/** The query of a search, or a condition beside it, with what its own search found. */
export interface LogicCondition {
  kind: "query" | "all" | "none";
  subquery: Subquery;
  query: CompiledQuery;
  scope: SearchScope;
  pass: PassResult;
}

/** A segment as it meets a condition. */
export interface ConditionScore extends FoundSegment, SegmentFindings, SegmentScore {}

/** The scores of segments by their ids. Those that can't meet the condition are missing. */
export type ConditionScores = Map<SegmentId, ConditionScore>;

/**
 * Scores segments for each condition, whether its own search found them or not: by their text,
 * their BM25 and the cosines of their vectors. If Vectorize is unavailable, counts what its own
 * search found instead of cosines.
 */
export async function scoreConditions(
  env: Env,
  target: SearchTarget,
  conditions: readonly LogicCondition[],
  ids: readonly SegmentId[],
): Promise<ConditionScores[]> {
  const found = await Promise.all(conditions.map((one) => readSegments(env, target, one, ids)));
  const segments = new Map(
    found.flatMap(({ rows }) => rows.map(({ segment }) => [segment.segmentId, segment])),
  );
  const vectors = conditions.flatMap(({ pass, scope }) => {
    const kinds = new Set<VectorKind>([...scope.textKinds, "image", "region"]);
    return pass.searched.map(({ space, values }) => ({ space, values: toUnit(values), kinds }));
  });
  const compare = () => compareStoredVectors(env, target, [...segments.values()], vectors);
  const compared = await tryChannel("logic_vectors", compare);
  let next = 0;
  const slice = new TimeSlice();
  const scored: ConditionScores[] = [];
  for (const [i, condition] of conditions.entries()) {
    const vectorHits =
      compared instanceof AppError
        ? condition.pass.candidates.flatMap(({ channelHits }) => channelHits)
        : condition.pass.searched.flatMap(({ space, offset, mean }) => {
            return toVectorHits(space, moveCosines(compared[next++]!, offset), mean);
          });
    scored.push(await scoreRows(condition, found[i]!, vectorHits, slice));
  }
  return scored;
}

/** Rows of segments that may meet a condition, and their BM25. */
interface ReadSegments {
  rows: FoundSegment[];
  fullTextHits: ChannelHit[];
  termWeights: number[];
}

/** What an example without segments finds. */
const NOTHING: ReadSegments = { rows: [], fullTextHits: [], termWeights: [] };

async function readSegments(
  env: Env,
  target: SearchTarget,
  { query, scope, pass }: LogicCondition,
  ids: readonly SegmentId[],
): Promise<ReadSegments> {
  if (query.plainText === "" && query.example === null) return NOTHING;
  const { phrases, excluded } = toFtsQuery(query, query.terms);
  const must = matchAll(phrases);
  const { segments, fullTextHits } = await findSegments(targetDatabases(env, target), {
    scope: { ...scope.assets, exceptAssetId: null },
    fullText: { ...toFtsSearch(query, scope, ids.length), among: ids },
    ids,
    excludedIds: [],
    rules: { must: must && columnFilter(must, scope.columns), mustNot: matchAny(excluded) },
  });
  const termWeights = query.terms.weights(pass.frequencies);
  return { rows: segments, fullTextHits: toFullTextHits(fullTextHits, termWeights), termWeights };
}

async function scoreRows(
  { query, scope, pass }: LogicCondition,
  { rows, fullTextHits, termWeights }: ReadSegments,
  vectorHits: readonly ChannelHit[],
  slice: TimeSlice,
): Promise<ConditionScores> {
  const hits = Map.groupBy([...fullTextHits, ...vectorHits], ({ segmentId }) => segmentId);
  const scores: ConditionScores = new Map();
  for (const row of rows) {
    await slice.use(textLength(row.segment));
    const { segmentId } = row.segment;
    const channelHits = hits.get(segmentId) ?? [];
    const fieldMatches = matchFields(row.segment, query.terms, scope);
    const signals = combineSignals(row.segment, channelHits, fieldMatches, termWeights);
    const score = scoreSignals(signals, pass.context);
    scores.set(segmentId, { ...row, channelHits, fieldMatches, ...score });
  }
  return scores;
}
