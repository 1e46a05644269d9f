import { CONNECTIONS, mapConcurrent, TimeSlice } from "../../concurrency.ts";
import { loadDotProducts } from "../../dot-products.ts";
import { AppError } from "../../errors.ts";
import type { SegmentId } from "../../ids.ts";
import { SIGNATURE, WATCHES } from "../../parameters.ts";
import { getSearchableParts } from "../../store/d1/indices.ts";
import { listWatchesFor, putNearest } from "../../store/d1/watches.ts";
import {
  countFrequencies,
  countInDatabases,
  sumTermCounts,
} from "../../store/index-database/find-segments.ts";
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
  type SearchableIndexRef,
} from "../calibration.ts";
import { type ChannelHit, toCopyHit, toVectorHits, tryChannel } from "../channels.ts";
import { bestPerSegment } from "../copy-detection.ts";
import { toFullTextHits } from "../full-text-hits.ts";
import { toFtsQuery } from "../query.ts";
import { toFtsSearch } from "../search.ts";
import { type ActiveWatch, selectActive } from "./active-watches.ts";
import {
  findPossibleMatches,
  type Findings,
  type MatchableSegment,
  type PossibleMatches,
  scoreFindings,
  selectMatches,
} from "./find-matches.ts";
import { compareVectors, cutoffOf, mergeNearest, type NewVector } from "./near-vectors.ts";
import { NewTexts } from "./new-texts.ts";
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
  const findings = active.map((): Findings => new Map());
  const segmentIds = await addVectorHits(env, db, asset, active, findings);
  await addCopies(env, index, asset, active, findings);
  const wanted = isPartial ? [...segmentIds] : null;
  const segments = await listSegmentsWithHashes(db, asset.assetId, wanted);
  const likely = await selectLikely(env, index, active, findings, segments);
  const before = await listMatched(db, asset.assetId);
  const matches = [];
  for (let at = 0; at < likely.length; at += WATCHES.queriesPerCall) {
    const some = likely.slice(at, at + WATCHES.queriesPerCall);
    const weights = await addTerms(env, index, asset, some);
    for (const [i, one] of some.entries()) {
      const { watchId, minProbability } = one.watch.watch;
      const about = { ...one.watch, minProbability };
      const scored = scoreFindings(one.segments, one.findings, about, weights[i]!, one.context);
      const selected = selectMatches(scored, about.query, minProbability, before.get(watchId));
      for (const { segmentId, score, ...details } of selected) {
        matches.push({ watchId, segmentId, score, details });
      }
    }
  }
  await putMatches(db, asset.assetId, matches);
}

/** A watch that some new segments may match. */
interface LikelyWatch extends PossibleMatches {
  watch: ActiveWatch;
  findings: Findings;
}

/** Selects the watches that some segments may match, by their vectors and terms. */
async function selectLikely(
  env: Env,
  index: IndexRef & Pick<SearchableIndexRef, "calibration">,
  active: readonly ActiveWatch[],
  findings: readonly Findings[],
  segments: readonly MatchableSegment[],
): Promise<LikelyWatch[]> {
  const texts = await NewTexts.read(
    segments.map(({ segment }) => segment),
    new TimeSlice(),
  );
  const stems = active.flatMap(({ query }) => query.terms.tokens.map(({ stem }) => stem));
  const frequencies = await countFrequencies(indexDatabases(env, index), [...new Set(stems)]);
  const entry = nearestEntry(CALIBRATIONS, embeddingModels(env));
  const line = currentLine(env, index.calibration);
  const comparison = { segments, texts, frequencies, entry, line };
  return active.flatMap((watch, i) => {
    const own = findings[i]!;
    const about = { ...watch, minProbability: watch.watch.minProbability };
    const possible = findPossibleMatches(about, watch.nearest, own, comparison);
    return possible.segments.length > 0 ? [{ ...possible, watch, findings: own }] : [];
  });
}

function isCompiled(watch: CompiledWatch | AppError): watch is CompiledWatch {
  return !(watch instanceof AppError);
}

function addHit(findings: Findings, hit: ChannelHit): void {
  const hits = findings.get(hit.segmentId);
  if (hits) hits.push(hit);
  else findings.set(hit.segmentId, [hit]);
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
  findings: readonly Findings[],
): Promise<Set<SegmentId>> {
  const queries = active.flatMap(({ vectors, nearest }) =>
    vectors.map((query, i) => ({ query, cutoff: cutoffOf(nearest.lists[i] ?? []) })),
  );
  const hits = queries.map((): ReturnType<typeof compareVectors>[number] => []);
  const segmentIds = new Set<SegmentId>();
  const products = await loadDotProducts();
  for (let position = 0; ; position += SEGMENTS_PER_READ) {
    const stored = await listNewVectors(db, asset.assetId, position);
    if (stored === null) break;
    const vectors = stored.map(({ segmentId, kind, values }): NewVector => {
      segmentIds.add(segmentId);
      return { segmentId, kind, values: new Float32Array(values) };
    });
    for (const [i, found] of compareVectors(queries, vectors, products).entries())
      hits[i]!.push(...found);
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
  findings: readonly Findings[],
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
 * Adds what the full text says of the segments that may match, and deletes those that the syntax of
 * a query or its example excludes. Returns the weights of the terms of each watch.
 */
async function addTerms(
  env: Env,
  index: IndexRef,
  asset: Asset,
  likely: readonly LikelyWatch[],
): Promise<number[][]> {
  const databases = indexDatabases(env, index);
  const counts = await mapConcurrent(likely, CONNECTIONS, async ({ watch }) => {
    const all = await countInDatabases(databases, toFtsSearch(watch.query, watch.scope, 0));
    const database = all[index.shards.findIndex(({ shard }) => shard === asset.shard)];
    return database ? { database, index: sumTermCounts(all) } : null;
  });
  const asked = likely.map(({ watch }, i) => toNewSegmentQuery(watch, counts[i]!));
  const answers = await indexDatabase(env, asset).queryNewSegments(asset.assetId, asked);
  return likely.map(({ watch, findings }, i) => {
    const rows = answers?.[i];
    return rows ? addText(watch, rows, counts[i]!, findings) : [];
  });
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
  findings: Findings,
): number[] {
  const { total, stems } = counts?.index ?? rows.counts;
  const byStem = new Map(stems.map(({ stem, count }) => [stem, count]));
  const weights = query.terms.weights({ total, byStem });
  for (const hit of toFullTextHits(rows.fullTextHits, weights)) addHit(findings, hit);
  const allowed = rows.allowed && new Set<string>(rows.allowed);
  const excluded = query.example?.exclude.segmentId;
  for (const id of findings.keys()) {
    if ((allowed && !allowed.has(id)) || id === excluded) findings.delete(id);
  }
  return weights;
}
