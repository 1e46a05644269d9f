import { CONNECTIONS, mapConcurrent, TimeSlice } from "../../concurrency.ts";
import { AppError } from "../../errors.ts";
import type { SegmentId } from "../../ids.ts";
import { SIGNATURE, WATCHES } from "../../parameters.ts";
import { getSearchableParts } from "../../store/d1/indices.ts";
import { listWatchesFor, type NearestLists, putNearest } from "../../store/d1/watches.ts";
import { countInDatabases, sumTermCounts } from "../../store/index-database/find-segments.ts";
import { matchAll, matchAny, columnFilter } from "../../store/index-database/fulltext.ts";
import {
  indexDatabase,
  indexDatabases,
  type IndexDb,
  type NewSegmentQuery,
  type NewSegmentRows,
} from "../../store/index-database/index-database.ts";
import {
  listMatched,
  listSegmentsWithHashes,
  putMatches,
} from "../../store/index-database/matches.ts";
import {
  clearNewVectors,
  listNewVectors,
  SEGMENTS_PER_READ,
} from "../../store/index-database/new-vectors.ts";
import { findSignatures } from "../../store/index-database/signatures.ts";
import { mirrorNewAsset } from "../../store/mirror.ts";
import type { Asset, IndexRef } from "../../types.ts";
import { nearestEntry } from "../calibration-entry.ts";
import {
  CALIBRATIONS,
  currentLine,
  embeddingModels,
  selectEvidenceModels,
} from "../calibration.ts";
import {
  type ChannelHit,
  toCopyHit,
  toFullTextHits,
  toVectorHits,
  tryChannel,
} from "../channels.ts";
import { bestPerSegment } from "../copy-detection.ts";
import { textLength } from "../evidence.ts";
import { toFtsQuery } from "../query.ts";
import { combineSignals, hasEnoughText, isFoundByText } from "../score-segment.ts";
import { toFtsSearch } from "../search.ts";
import { type ActiveWatch, selectActive } from "./active-watches.ts";
import {
  createStemReader,
  type MatchableSegment,
  type SegmentFinding,
  scoreFindings,
  selectMatches,
} from "./find-matches.ts";
import { compareVectors, cutoffOf, mergeNearest, type NewVector } from "./near-vectors.ts";
import { type CompiledWatch, compileWatch } from "./watch-vectors.ts";

/**
 * Compares the segments of an asset with the watches of its index: all of them, or those whose
 * vectors are stored (`isPartial`). Stores the matches, which count when the asset is searchable.
 * May run twice.
 */
export async function matchAsset(env: Env, asset: Asset, isPartial = false): Promise<void> {
  const db = indexDatabase(env, asset);
  const watches = await listWatchesFor(env.DB, asset);
  if (watches.length === 0) return clearNewVectors(db, asset.assetId);
  const { accountId, indexId } = asset;
  const index = { accountId, indexId, ...(await getSearchableParts(env.DB, indexId)) };
  await mirrorNewAsset(env, asset);
  const compiled = await mapConcurrent(watches, CONNECTIONS, (watch) =>
    tryChannel("watch", () => compileWatch(env, index, watch)),
  );
  const active = await selectActive(env, index, asset, compiled.filter(isCompiled));
  const findings = active.map(() => new Map<SegmentId, SegmentFinding>());
  const segmentIds = await addVectorHits(env, db, asset, active, findings);
  await addCopies(env, index, asset, active, findings);
  const weights = await addTerms(env, index, asset, active, findings);
  const found = new Set(findings.flatMap((each) => [...each.keys()]));
  const ids = [...found].filter((id) => !isPartial || segmentIds.has(id));
  const segments = await listSegmentsWithHashes(db, asset.assetId, ids);
  const before = await listMatched(db, asset.assetId);
  const entry = nearestEntry(CALIBRATIONS, embeddingModels(env));
  const line = currentLine(env, index.calibration);
  const slice = new TimeSlice();
  const stemsOf = createStemReader();
  const matches = [];
  for (const [i, watch] of active.entries()) {
    const own = findings[i]!;
    const rows = segments.filter(({ segment }) => own.has(segment.segmentId));
    await slice.use(rows.reduce((sum, { segment }) => sum + textLength(segment), 0));
    const models = selectEvidenceModels(entry, watch.query, hasTextAmong(watch.nearest, rows, own));
    const { watchId, minProbability } = watch.watch;
    const about = { ...watch, termWeights: weights[i]!, minProbability };
    const scored = scoreFindings(rows, own, about, { models, line }, stemsOf);
    const selected = selectMatches(scored, watch.query, minProbability, before.get(watchId));
    for (const { segmentId, score, ...details } of selected) {
      matches.push({ watchId, segmentId, score, details });
    }
  }
  await putMatches(db, asset.assetId, matches);
}

/** Tests whether the segments have text that a search will find now: the new ones among them. */
function hasTextAmong(
  { found, withText }: NearestLists,
  rows: readonly MatchableSegment[],
  findings: ReadonlyMap<SegmentId, SegmentFinding>,
): boolean {
  const withNewText = rows.filter(({ segment }) => {
    const { channelHits, hasTerms } = findings.get(segment.segmentId)!;
    return hasTerms || isFoundByText(combineSignals(segment, channelHits, [], []));
  });
  return hasEnoughText(withText + withNewText.length, found + rows.length);
}

function isCompiled(watch: CompiledWatch | AppError): watch is CompiledWatch {
  return !(watch instanceof AppError);
}

type FindingsOf = Map<SegmentId, SegmentFinding>[];

function addHit(findings: Map<SegmentId, SegmentFinding>, hit: ChannelHit, hasTerms = false): void {
  const finding = findings.get(hit.segmentId) ?? { channelHits: [], hasTerms: false };
  finding.channelHits.push(hit);
  finding.hasTerms ||= hasTerms;
  findings.set(hit.segmentId, finding);
}

/**
 * Adds the hits of the asset's vectors, and stores which segments are nearest now. Returns the ids
 * of the segments with vectors.
 */
async function addVectorHits(
  env: Env,
  db: IndexDb,
  asset: Asset,
  active: readonly ActiveWatch[],
  findings: FindingsOf,
): Promise<Set<string>> {
  const queries = active.flatMap(({ vectors, nearest }) =>
    vectors.map((query, i) => ({ query, cutoff: cutoffOf(nearest.lists[i] ?? []) })),
  );
  const hits = queries.map((): ReturnType<typeof compareVectors>[number] => []);
  const segmentIds = new Set<string>();
  for (let position = 0; ; position += SEGMENTS_PER_READ) {
    const stored = await listNewVectors(db, asset.assetId, position);
    if (stored === null) break;
    const vectors = stored.map(({ segmentId, kind, values }): NewVector => {
      segmentIds.add(segmentId);
      return { segmentId, kind, values: new Float32Array(values) };
    });
    for (const [i, found] of compareVectors(queries, vectors).entries()) hits[i]!.push(...found);
  }
  let next = 0;
  const changed: Parameters<typeof putNearest>[1][number][] = [];
  for (const [i, { watch, vectors, nearest }] of active.entries()) {
    const lists = vectors.map(({ space }, channel) => {
      const merged = mergeNearest(nearest.lists[channel] ?? [], hits[next++]!, segmentIds);
      for (const hit of toVectorHits(space, merged.hits, merged.mean)) addHit(findings[i]!, hit);
      return merged.nearest;
    });
    const { watchId, updatedAt } = watch;
    if (JSON.stringify(lists) !== JSON.stringify(watch.nearest?.lists)) {
      changed.push({ watchId, updatedAt, nearest: { ...nearest, lists } });
    }
  }
  await putNearest(env.DB, changed);
  return segmentIds;
}

/** Adds the copies of the images of watches. */
async function addCopies(
  env: Env,
  index: IndexRef,
  { assetId }: Asset,
  active: readonly ActiveWatch[],
  findings: FindingsOf,
): Promise<void> {
  const withImage = active.flatMap(({ signature }, i) => (signature ? [{ signature, i }] : []));
  if (withImage.length === 0) return;
  const matches = await findSignatures(
    indexDatabases(env, index),
    withImage.map(({ signature }) => signature),
  );
  for (const [n, { i }] of withImage.entries()) {
    const copies = matches[n]!.filter((match) => {
      return match.similarity >= SIGNATURE.minCopySimilarity && match.assetId === assetId;
    });
    for (const copy of bestPerSegment(copies)) addHit(findings[i]!, toCopyHit(copy));
  }
}

/**
 * Adds the segments with terms of the watches, and deletes those that the syntax of a query or its
 * example excludes. Returns the weights of the terms.
 */
async function addTerms(
  env: Env,
  index: IndexRef,
  asset: Asset,
  active: readonly ActiveWatch[],
  findings: FindingsOf,
): Promise<number[][]> {
  const databases = indexDatabases(env, index);
  const db = indexDatabase(env, asset);
  const weights: number[][] = [];
  for (let at = 0; at < active.length; at += WATCHES.queriesPerCall) {
    const some = active.slice(at, at + WATCHES.queriesPerCall);
    const counts = await mapConcurrent(some, CONNECTIONS, async (watch) => {
      const fullText = toFtsSearch(watch.query, watch.scope, 0);
      const all = await countInDatabases(databases, fullText);
      const database = all[index.shards.findIndex(({ shard }) => shard === asset.shard)];
      return database ? { database, index: sumTermCounts(all) } : null;
    });
    const asked = some.map((watch, i) => toNewSegmentQuery(watch, counts[i]!));
    const answers = await db.queryNewSegments(asset.assetId, asked);
    for (const [i, watch] of some.entries()) {
      const rows = answers?.[i];
      weights.push(rows ? addText(watch, rows, counts[i]!, findings[at + i]!) : []);
    }
  }
  return weights;
}

function toNewSegmentQuery(
  { query, scope }: CompiledWatch,
  counts: NewSegmentQuery["counts"],
): NewSegmentQuery {
  const { phrases, excluded } = toFtsQuery(query, query.terms);
  const must = matchAll(phrases);
  return {
    fullText: toFtsSearch(query, scope, 0),
    rules: { must: must && columnFilter(must, scope.columns), mustNot: matchAny(excluded) },
    counts,
  };
}

function addText(
  { query }: CompiledWatch,
  rows: NewSegmentRows,
  counts: NewSegmentQuery["counts"],
  findings: Map<SegmentId, SegmentFinding>,
): number[] {
  const { total, stems } = counts?.index ?? rows.counts;
  const byStem = new Map(stems.map(({ stem, count }) => [stem, count]));
  const weights = query.terms.weights({ total, byStem });
  for (const hit of toFullTextHits(rows.fullTextHits, weights)) addHit(findings, hit, true);
  const allowed = rows.allowed && new Set<string>(rows.allowed);
  const excluded = query.example?.exclude.segmentId;
  for (const id of findings.keys()) {
    if ((allowed && !allowed.has(id)) || id === excluded) findings.delete(id);
  }
  return weights;
}
