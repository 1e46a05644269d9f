import { assetKind } from "../../asset-kind.ts";
import type { SegmentId } from "../../ids.ts";
import { LOGIC } from "../../parameters.ts";
import { findSegments, type FoundSegment } from "../../store/index-database/find-segments.ts";
import { columnFilter, matchAll } from "../../store/index-database/fulltext.ts";
import { listNewestSegments } from "../../store/index-database/scope-segments.ts";
import { type SearchTarget, targetDatabases } from "../index-group.ts";
import { type SearchScope, toSearchScope } from "../request.ts";
import { scoreSignals } from "../score-segment.ts";
import type { LogicRequest } from "./compile-conditions.ts";
import type { LogicCondition } from "./conditions.ts";
import { conjunction } from "./probability.ts";
import { isWithinScope, type SegmentPosition } from "./scopes.ts";

/**
 * Lists the segments that may be hits, the likeliest first: those that the query or any of `all`
 * finds, except examples, `less_like` and `skipped`. With `none` alone, those of the assets added
 * last that don't have its words.
 */
export async function listLogicCandidates(
  env: Env,
  target: SearchTarget,
  request: LogicRequest,
  conditions: readonly LogicCondition[],
): Promise<FoundSegment[]> {
  const scope = toSearchScope(request);
  const wanted = conditions.filter(({ kind }) => kind !== "none");
  if (wanted.length === 0) return listWithout(env, target, scope, conditions);
  const excluded = new Set<string>([...request.lessLike, ...request.skipped]);
  for (const { query } of wanted) {
    const { segmentId = null, assetId = null } = query.example?.exclude ?? {};
    for (const id of [segmentId, assetId]) if (id !== null) excluded.add(id);
  }
  const found = new Map<SegmentId, FoundSegment>();
  for (const candidate of wanted.flatMap(({ pass }) => pass.candidates)) {
    const { segment, asset } = candidate;
    if (excluded.has(segment.segmentId) || excluded.has(asset.assetId)) continue;
    if (scope.assets.kinds.includes(assetKind(asset))) found.set(segment.segmentId, candidate);
  }
  const estimate = estimatorOf(conditions, request.logic.scopeSeconds);
  return [...found.values()]
    .map((row) => ({ row, estimate: estimate(row.segment) }))
    .toSorted((a, b) => {
      const byId = a.row.segment.segmentId < b.row.segment.segmentId ? -1 : 1;
      return b.estimate - a.estimate || byId;
    })
    .map(({ row }) => row);
}

/**
 * Estimates the probability of a hit by what the searches of all conditions found. A segment that
 * one didn't find counts as one in which nothing speaks for it.
 */
function estimatorOf(
  conditions: readonly LogicCondition[],
  scopeSeconds: number,
): (segment: SegmentPosition) => number {
  const parts = conditions.map(({ kind, pass }) => {
    const background = scoreSignals({}, pass.context).score;
    const byAsset = Map.groupBy(pass.candidates, ({ segment }) => segment.assetId);
    return (segment: SegmentPosition) => {
      const seconds = kind === "query" ? 0 : scopeSeconds;
      const scores = (byAsset.get(segment.assetId) ?? [])
        .filter((other) => isWithinScope(segment, other.segment, seconds))
        .map(({ score }) => score);
      const presence = Math.max(background, ...scores);
      return kind === "none" ? 1 - presence : presence;
    };
  });
  return (segment) => conjunction(parts.map((part) => part(segment)));
}

async function listWithout(
  env: Env,
  target: SearchTarget,
  scope: SearchScope,
  conditions: readonly LogicCondition[],
): Promise<FoundSegment[]> {
  const databases = targetDatabases(env, target);
  const expressions = conditions.flatMap(({ query, scope: { columns } }) => {
    const words = query.plainText === "" ? null : matchAll(query.terms.formsByTerm);
    return words === null ? [] : [`(${columnFilter(words, columns)})`];
  });
  const without = expressions.length > 0 ? expressions.join(" OR ") : null;
  const ids = await listNewestSegments(databases, scope.assets, without, LOGIC.maxCandidates);
  const { segments } = await findSegments(databases, {
    scope: scope.assets,
    fullText: null,
    ids,
    excludedIds: [],
    rules: { must: null, mustNot: null },
  });
  const rows = new Map(segments.map((row) => [row.segment.segmentId, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}
