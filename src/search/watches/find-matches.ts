import type { SegmentId } from "../../ids.ts";
import { normalForm } from "../../normal-form/tokens.ts";
import type { Segment } from "../../types.ts";
import type { ChannelHit } from "../channels.ts";
import { type Evidence, type FieldMatch, matchFields } from "../evidence.ts";
import type { Signals } from "../fuse.ts";
import { collapseNearDuplicates, type NearDuplicateKey } from "../hits.ts";
import type { CompiledQuery } from "../query.ts";
import type { SearchScope } from "../request.ts";
import { combineSignals, type ScoreContext, scoreSignals, toEvidence } from "../score-segment.ts";

/** A segment as matches are found in it. */
export interface MatchableSegment extends NearDuplicateKey {
  segment: Segment;
}

/** What was found of a new segment for one watch. */
export interface SegmentFinding {
  channelHits: ChannelHit[];
  /** Whether the full text has found it: other segments have none of the terms. */
  hasTerms: boolean;
}

/** A segment that matches a watch, before near-duplicates are collapsed. */
export interface ScoredSegment extends MatchableSegment {
  score: number;
  signals: Signals;
  channelHits: readonly ChannelHit[];
  fieldMatches: readonly FieldMatch[];
}

/** A segment that matches a watch, with what proves it. */
export interface WatchMatch {
  segmentId: SegmentId;
  score: number;
  signals: Signals;
  evidence: Evidence[];
  timeRange: ChannelHit["timeRange"];
  duplicates: string[];
}

/** A watch, as segments are scored for it. */
interface ScoredWatch {
  query: CompiledQuery;
  scope: SearchScope;
  /** Inverse document frequencies of the query's terms. */
  termWeights: readonly number[];
  /** Segments that score less aren't needed. */
  minProbability: number;
}

/**
 * Scores the segments of which something was found, as a search scores its candidates. Reads the
 * text of those only that may be probable enough by the terms that they may have.
 */
export function scoreFindings(
  segments: readonly MatchableSegment[],
  findings: ReadonlyMap<SegmentId, SegmentFinding>,
  { query, scope, termWeights, minProbability }: ScoredWatch,
  context: ScoreContext,
  stemsOf: StemReader,
): ScoredSegment[] {
  return segments.flatMap((row) => {
    const finding = findings.get(row.segment.segmentId);
    if (!finding) return [];
    const { channelHits, hasTerms } = finding;
    const scoreWith = (fieldMatches: FieldMatch[]) =>
      scoreSignals(combineSignals(row.segment, channelHits, fieldMatches, termWeights), context);
    const possible = hasTerms ? query.terms.possibleTerms(stemsOf(row.segment)) : new Set<number>();
    if (scoreWith(asFound(possible)).score < minProbability) return [];
    const fieldMatches = hasTerms ? matchFields(row.segment, query.terms, scope) : [];
    const { segment, keyframeHash } = row;
    const { signals, score } = scoreWith(fieldMatches);
    return [{ segment, keyframeHash, signals, score, channelHits, fieldMatches }];
  });
}

/** Matches of terms in a text, and in labels: the most that a segment with these terms may have. */
function asFound(terms: ReadonlySet<number>): FieldMatch[] {
  if (terms.size === 0) return [];
  const matches = [...terms].map((term) => ({ term, isExact: true, start: 0, end: 0 }));
  return [
    { kind: "speech", isBoxLabels: false, text: "", matches },
    { kind: "visual", isBoxLabels: true, text: "", matches },
  ];
}

/** Returns the stems of all words of a segment's text. */
export type StemReader = (segment: MatchableSegment["segment"]) => ReadonlySet<string>;

/** Makes a reader that reads each segment once, for all watches. */
export function createStemReader(): StemReader {
  const read = new Map<string, Set<string>>();
  return ({ segmentId, caption, transcript, onScreenText, labels }) => {
    const known = read.get(segmentId);
    if (known) return known;
    const texts = [caption, transcript, onScreenText, labels.join(", ")];
    const forms = texts.filter(Boolean).map((text) => normalForm(text));
    const stems = new Set<string>();
    for (const { tokens, compounds } of forms) {
      for (const { stem } of tokens) stems.add(stem);
      for (const { stem } of compounds) stems.add(stem);
    }
    read.set(segmentId, stems);
    return stems;
  };
}

/**
 * Selects the matches among the scored segments of one asset: those that are as probable as the
 * watch asks for, the best of near-duplicates. Leaves out what has matched `before`, with its
 * near-duplicates.
 */
export function selectMatches(
  scored: readonly ScoredSegment[],
  query: CompiledQuery,
  minProbability: number,
  before: ReadonlySet<string> = new Set(),
): WatchMatch[] {
  const probable = scored
    .filter(({ score }) => score >= minProbability)
    .toSorted((a, b) => b.score - a.score || (a.segment.segmentId < b.segment.segmentId ? -1 : 1));
  return collapseNearDuplicates(probable, isCopy)
    .filter(({ candidate: { segment }, duplicates }) => {
      return ![segment.segmentId, ...duplicates].some((id) => before.has(id));
    })
    .map(({ candidate, duplicates }) => ({
      segmentId: candidate.segment.segmentId,
      score: candidate.score,
      signals: candidate.signals,
      evidence: toEvidence(candidate, query),
      timeRange: candidate.channelHits.find((hit) => hit.timeRange)?.timeRange ?? null,
      duplicates,
    }));
}

/** Copies are what a watch with an image is for: each of them counts. */
function isCopy({ signals }: ScoredSegment): boolean {
  return signals.copy_similarity !== undefined;
}
