import type { SegmentId } from "../../ids.ts";
import type { NearestLists } from "../../store/d1/watches.ts";
import type { DocumentFrequencies } from "../../store/index-database/fulltext.ts";
import type { Segment } from "../../types.ts";
import type { CalibrationEntry } from "../calibration-entry.ts";
import { selectEvidenceModels } from "../calibration.ts";
import type { ChannelHit } from "../channels.ts";
import { type Evidence, type FieldMatch, matchFields } from "../evidence.ts";
import type { Signals } from "../fuse.ts";
import { collapseNearDuplicates, type NearDuplicateKey } from "../hits.ts";
import type { LogOddsLine } from "../log-odds-line.ts";
import type { CompiledQuery } from "../query.ts";
import type { SearchScope } from "../request.ts";
import {
  combineSignals,
  hasEnoughText,
  isFoundByText,
  type ScoreContext,
  scoreSignals,
  toEvidence,
} from "../score-segment.ts";
import type { NewTexts } from "./new-texts.ts";

/** A segment as matches are found in it. */
export interface MatchableSegment extends NearDuplicateKey {
  segment: Segment;
}

/** What channels have found of new segments for one watch. */
export type Findings = Map<SegmentId, ChannelHit[]>;

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
  /** Segments that score less don't match. */
  minProbability: number;
}

/** More than the score of a segment changes by what is added to the index meanwhile. */
const MAX_CHANGE = 0.01;

/** What new segments are compared with watches by. */
export interface Comparison {
  segments: readonly MatchableSegment[];
  texts: NewTexts;
  frequencies: DocumentFrequencies;
  entry: CalibrationEntry;
  line: LogOddsLine | null;
}

/** The segments that may match a watch, and what they are scored with. */
export interface PossibleMatches {
  segments: MatchableSegment[];
  context: ScoreContext;
}

/**
 * Returns the segments that may match a watch, by the vectors that are near and by the terms that
 * each may have: the full text is asked for these only. The counts are of the segments that were
 * near before: with the new ones they tell whether a search will expect text.
 */
export function findPossibleMatches(
  { query, minProbability }: ScoredWatch,
  { found: foundBefore, withText: withTextBefore }: Pick<NearestLists, "found" | "withText">,
  findings: Findings,
  { segments, texts, frequencies, entry, line }: Comparison,
): PossibleMatches {
  const weights = query.terms.weights(frequencies);
  const possible = texts.possibleTerms(query.terms, weights);
  const found = segments.filter(({ segment: { segmentId } }) => {
    return findings.has(segmentId) || possible.has(segmentId);
  });
  const withText = found.filter(({ segment }) => {
    if (possible.has(segment.segmentId)) return true;
    return isFoundByText(combineSignals(segment, findings.get(segment.segmentId)!, [], []));
  });
  const hasText = hasEnoughText(withTextBefore + withText.length, foundBefore + found.length);
  const context = { models: selectEvidenceModels(entry, query, hasText), line };
  const mayMatch = (
    segment: Pick<Segment, "captionModel">,
    channelHits: readonly ChannelHit[],
    terms?: ReadonlySet<number>,
  ) => {
    const hits = terms ? [...channelHits, BEST_RANK] : channelHits;
    const signals = combineSignals(segment, hits, asFound(terms), weights);
    return scoreSignals(signals, context).score >= minProbability - MAX_CHANGE;
  };
  const byTerms = new Map<ReadonlySet<number>, boolean>();
  const likely = found.filter(({ segment }) => {
    const terms = possible.get(segment.segmentId);
    const channelHits = findings.get(segment.segmentId);
    if (channelHits) return mayMatch(segment, channelHits, terms);
    const known = byTerms.get(terms!) ?? mayMatch({ captionModel: null }, [], terms);
    byTerms.set(terms!, known);
    return known;
  });
  return { segments: likely, context };
}

/** The best that the full text may say of a segment. */
const BEST_RANK = { signals: { bm25_normalized: 1 }, evidence: null };

/** Matches of terms in a text, and in labels: the most that a segment with these terms may have. */
function asFound(terms: ReadonlySet<number> = new Set()): FieldMatch[] {
  if (terms.size === 0) return [];
  const matches = [...terms].map((term) => ({ term, isExact: true, start: 0, end: 0 }));
  return [
    { kind: "speech", isBoxLabels: false, text: "", matches },
    { kind: "visual", isBoxLabels: true, text: "", matches },
  ];
}

/** Scores the segments that channels have found, as a search scores its candidates. */
export function scoreFindings(
  segments: readonly MatchableSegment[],
  findings: Findings,
  { query, scope, minProbability }: ScoredWatch,
  termWeights: readonly number[],
  context: ScoreContext,
): ScoredSegment[] {
  return segments.flatMap(({ segment, keyframeHash }) => {
    const channelHits = findings.get(segment.segmentId);
    if (!channelHits) return [];
    const fieldMatches = matchFields(segment, query.terms, scope);
    const signals = combineSignals(segment, channelHits, fieldMatches, termWeights);
    const { score } = scoreSignals(signals, context);
    if (score < minProbability) return [];
    return [{ segment, keyframeHash, signals, score, channelHits, fieldMatches }];
  });
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
