import { nullIfNotFound } from "../../errors.ts";
import { newId, type SegmentId, type WatchId } from "../../ids.ts";
import { WATCHES } from "../../parameters.ts";
import { listCreationTimes } from "../../store/d1/assets.ts";
import { startJob } from "../../store/d1/jobs.ts";
import { listShards } from "../../store/d1/shards.ts";
import {
  isWatched,
  listWatchesFor,
  type WatchQuery,
  type WatchRequest,
} from "../../store/d1/watches.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { findScopesOf, listMatched, putMatches } from "../../store/index-database/matches.ts";
import { Timings } from "../../timings.ts";
import type { Asset, NamedIndexRef } from "../../types.ts";
import { calibrationState } from "../calibration.ts";
import {
  type Candidate,
  findForQuery,
  findMore,
  type QuerySearch,
  toQuerySearch,
} from "../find-for-query.ts";
import { rankCandidates, type Hit } from "../hits.ts";
import type { CompiledQuery } from "../query.ts";
import { makeSearchRequest, type Mode, type SearchRequest, toSearchScope } from "../request.ts";
import { explainCandidate, type StoredResults } from "../results.ts";
import { exampleFromImage } from "../uploaded-example.ts";

/**
 * Starts the job that searches an asset for what its index watches. One that is under way may have
 * searched for some of that already, before what is new.
 */
export async function startMatching(env: Env, asset: Asset): Promise<void> {
  if (!(await isWatched(env.DB, asset))) return;
  const { assetId, accountId, indexId } = asset;
  const now = Date.now();
  const job = { jobId: newId("job", now), accountId, indexId, assetId };
  await startJob(env, { kind: "match_watches", ...job }, now, "none");
}

/**
 * Searches an asset for what its index watches, and stores the matches. `after` is the last watch
 * that was searched for, which `onSearched` gets. May run twice.
 */
export async function matchAsset(
  env: Env,
  asset: Asset,
  after: string,
  onSearched: (watchId: WatchId, share: number) => Promise<void>,
): Promise<void> {
  const { accountId, indexId, assetId } = asset;
  const db = indexDatabase(env, asset);
  const all = await listWatchesFor(env.DB, asset);
  const isIncluded = await findScopesOf(
    db,
    assetId,
    all.map(({ request }) => {
      const isAsset = request.similarTo !== null && !request.similarTo.startsWith("seg_");
      return toSearchScope(toWatchSearch(request), isAsset ? request.similarTo : null).assets;
    }),
  );
  const watches = all.filter(({ watchId }, i) => isIncluded[i] && watchId > after);
  if (watches.length === 0) return;
  const index = { accountId, indexId, name: "", shards: await listShards(env.DB, indexId) };
  const before = await listMatched(db, assetId);
  for (const [i, watch] of watches.entries()) {
    const { watchId } = watch;
    const matches = await matchWatch(env, index, asset, watch, before.get(watchId));
    await putMatches(
      db,
      matches.map(({ segmentId, score, ...details }) => ({ watchId, segmentId, score, details })),
    );
    await onSearched(watchId, (i + 1) / watches.length);
  }
}

/**
 * Finds what matches a watch in an asset. Its scores are those of a search of the whole index: the
 * first pass finds out what is near there, and whether text is expected.
 */
async function matchWatch(
  env: Env,
  index: NamedIndexRef,
  { assetId }: Asset,
  watch: WatchQuery,
  before: ReadonlySet<string> | undefined,
): Promise<WatchMatch[]> {
  const search = await toImageSearch(env, index, toWatchSearch(watch.request), watch.image).catch(
    nullIfNotFound,
  );
  if (!search) return []; // its example was deleted
  const timings = new Timings();
  const pass = await findForQuery(env, index, search, timings);
  const more = { assetIds: [assetId], fullTextDepth: WATCHES.previewDepth };
  const candidates = pass.candidates
    .filter(({ asset }) => asset.assetId === assetId)
    .concat(await findMore(env, index, search, pass, more, timings));
  return selectMatches(candidates, pass.query, watch.minProbability, before);
}

/** Makes the request of a search for what a watch looks for, but for its image. */
export function toWatchSearch({ query, similarTo, conditions, modes, assetTypes }: WatchRequest) {
  const kinds = [...new Set([...(modes as Mode[]), ...assetTypes])];
  return makeSearchRequest({ query, similarTo, conditions, modes: kinds });
}

/** `image` is the JPEG of a watch's example in base64. Throws `not_found` without an example. */
async function toImageSearch(
  env: Env,
  index: NamedIndexRef,
  request: SearchRequest,
  image: string | null,
): Promise<QuerySearch> {
  const example =
    image === null ? null : await exampleFromImage(env, index, Buffer.from(image, "base64"));
  return toQuerySearch(env, index, request, example);
}

/** A segment that matches a watch, with what proves it. */
export type WatchMatch = Pick<
  Hit,
  "score" | "signals" | "evidence" | "timeRange" | "duplicates"
> & {
  segmentId: SegmentId;
};

/**
 * Selects the matches among the scored segments of one asset: those that are as probable as the
 * watch asks for, the best of near-duplicates. Leaves out what has matched `before`, with its
 * near-duplicates.
 */
export function selectMatches(
  scored: readonly Candidate[],
  query: CompiledQuery,
  minProbability: number,
  before: ReadonlySet<string> = new Set(),
): WatchMatch[] {
  const probable = scored.filter(({ score }) => score >= minProbability);
  return rankCandidates(probable, { collapse: true, groupBy: "segment" })
    .filter(({ candidate: { segment }, duplicates }) => {
      return ![segment.segmentId, ...duplicates].some((id) => before.has(id));
    })
    .map(({ candidate, duplicates }) => {
      const { segment, score, signals } = candidate;
      const match = { segmentId: segment.segmentId, score, signals, duplicates };
      return Object.assign(match, explainCandidate(candidate, query));
    });
}

/** The stored result of a preview: its segments are read again when it is. */
export type StoredPreview = Awaited<ReturnType<typeof previewWatch>>;

/**
 * Finds what a watch would have announced of the assets that are searchable now: the segments that
 * a search finds by its vectors, and all with its terms, at most `WATCHES.previewDepth`.
 */
export async function previewWatch(
  env: Env,
  index: NamedIndexRef,
  request: SearchRequest,
  image: string | null,
  minProbability: number,
) {
  const search = await toImageSearch(env, index, request, image);
  const input = { ...search, fullTextDepth: WATCHES.previewDepth };
  const { query, candidates } = await findForQuery(env, index, input, new Timings());
  const byAsset = Map.groupBy(candidates, ({ asset }) => asset.assetId);
  const times = await listCreationTimes(env.DB, index.indexId, [...byAsset.keys()]);
  const assets = [...byAsset].map(([assetId, scored]) => {
    return { createdAt: times.get(assetId) ?? 0, scored };
  });
  const { best, nearest, ...summary } = summarizePreview(assets, query, minProbability);
  return {
    index_name: index.name,
    min_probability: minProbability,
    ...summary,
    calibration: calibrationState(env),
    best: best.map(toStoredHit),
    nearest_threshold: nearest.map(toStoredHit),
  };
}

/** Makes the hit that `loadResults` reads, the `i`th from 0. */
export function toStoredHit(match: WatchMatch, i: number): StoredResults["hits"][number] {
  return { ...match, rank: i + 1, boxes: null, mask: null };
}

/** Thresholds that are compared. */
const PREVIEW_THRESHOLDS = [0.5, 0.7, 0.8, 0.9, 0.95] as const;
/** Matches that are shown of each kind. */
const EXAMPLES = 10;

/**
 * Summarizes what a watch would have announced of assets, by the rules by which it announces: by
 * the days (UTC) on which they were added, and at several thresholds.
 */
export function summarizePreview(
  assets: readonly { createdAt: number; scored: readonly Candidate[] }[],
  query: CompiledQuery,
  minProbability: number,
) {
  const matchesAt = (threshold: number) =>
    assets.map(({ createdAt, scored }) => {
      return { createdAt, matches: selectMatches(scored, query, threshold) };
    });
  const matching = matchesAt(minProbability);
  const days = new Map<string, number>();
  for (const { createdAt, matches } of matching) {
    if (matches.length === 0) continue;
    const date = new Date(createdAt).toISOString().slice(0, 10);
    days.set(date, matches.length + (days.get(date) ?? 0));
  }
  const byScore = (a: WatchMatch, b: WatchMatch) => b.score - a.score;
  const best = matching.flatMap(({ matches }) => matches).toSorted(byScore);
  const distance = ({ score }: WatchMatch) => Math.abs(score - minProbability);
  const all = matchesAt(0).flatMap(({ matches }) => matches);
  return {
    matches: best.length,
    matches_by_day: [...days]
      .map(([date, matches]) => ({ date, matches }))
      .toSorted((a, b) => (a.date < b.date ? -1 : 1)),
    thresholds: PREVIEW_THRESHOLDS.map((threshold) => {
      const scores = matchesAt(threshold).flatMap(({ matches }) => matches.map((m) => m.score));
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      const expected_precision = scores.length > 0 ? mean : null;
      return { min_probability: threshold, matches: scores.length, expected_precision };
    }),
    best: best.slice(0, EXAMPLES),
    nearest: all.toSorted((a, b) => distance(a) - distance(b)).slice(0, EXAMPLES),
  };
}
