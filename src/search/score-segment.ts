import { TEMPLATE } from "../models/describe.ts";
import type { Segment } from "../types.ts";
import type { ChannelHit } from "./channels.ts";
import {
  type Evidence,
  fieldEvidence,
  type FieldMatch,
  mergeEvidence,
  termCoverage,
} from "./evidence.ts";
import { type EvidenceModels, mergeSignals, relevanceProbability, type Signals } from "./fuse.ts";
import { applyLine, type LogOddsLine, toLogOdds } from "./log-odds-line.ts";
import type { CompiledQuery } from "./query.ts";

/** What the scores of all candidates of a query are computed with. */
export interface ScoreContext {
  models: EvidenceModels;
  /** The index's own calibration; null for the general one. */
  line: LogOddsLine | null;
}

/** What is found of a segment: by channels, and in its text. */
export interface SegmentFindings {
  channelHits: readonly ChannelHit[];
  fieldMatches: readonly FieldMatch[];
}

/** The score of a segment, and what it is made of. */
export interface SegmentScore {
  signals: Signals;
  /** The probability that the segment is relevant. */
  score: number;
  /** That probability before the index's own calibration. */
  generalScore: number;
}

export function scoreSignals(signals: Signals, { models, line }: ScoreContext): SegmentScore {
  const generalScore = relevanceProbability(signals, models);
  const score = line ? applyLine(line, toLogOdds(generalScore)) : generalScore;
  return { signals, score, generalScore };
}

/** Lowest share of segments with text where text is expected of what is relevant. */
const MIN_TEXT_SHARE = 0.25;

/**
 * Tests whether the segments in scope have text, by what a search found: the nearest text and the
 * nearest images. Where hardly one has, that a segment has none says nothing against it.
 */
export function hasEnoughText(withText: number, found: number): boolean {
  return withText > 0 && withText >= MIN_TEXT_SHARE * found;
}

/** Tests whether a segment was found by its text. Labels aren't text: detectors find them. */
export function isFoundByText({ term_coverage, text_margin }: Signals): boolean {
  return term_coverage !== undefined || text_margin !== undefined;
}

/** Merges the evidence of channels and of text fields. */
export function toEvidence(
  { channelHits, fieldMatches }: SegmentFindings,
  { terms }: Pick<CompiledQuery, "terms">,
): Evidence[] {
  const fromChannels = channelHits.flatMap(({ evidence }) => evidence ?? []);
  const fromFields = fieldMatches.map((match) => fieldEvidence(match, terms));
  return mergeEvidence([...fromChannels, ...fromFields]);
}

type TermField = Omit<FieldMatch, "text">;

/**
 * Combines all signals of a segment. A template caption only lists detected labels: its terms
 * count as `label_coverage`, like those of box labels, but not its numbers, as a detector that
 * finds people often misses some, nor its embedding. BM25 is at most the term coverage. The margin
 * doesn't count for a text with another number than the query.
 */
export function combineSignals(
  { captionModel }: Pick<Segment, "captionModel">,
  channelHits: readonly Pick<ChannelHit, "signals" | "evidence">[],
  fieldMatches: readonly TermField[],
  termWeights: readonly number[],
): Signals {
  const isTemplate = captionModel === TEMPLATE;
  const isLabel = ({ kind, isBoxLabels }: TermField) =>
    isBoxLabels || (isTemplate && (kind === "caption" || kind === "visual"));
  const isText = (match: TermField) => !isLabel(match);
  const labels = fieldMatches.filter(isLabel).map(({ matches }) => {
    return { matches: matches.filter(({ isNumber }) => !isNumber) };
  });
  const labelCoverage = termCoverage(labels, termWeights);
  const coverage = termCoverage(fieldMatches.filter(isText), termWeights);
  const counted = channelHits.filter(
    ({ evidence }) => !(isTemplate && evidence?.kind === "caption"),
  );
  const { bm25_normalized = 0, ...signals } = mergeSignals(counted.map((hit) => hit.signals));
  // Embeddings hardly tell "iPhone 11" from "iPhone 12".
  const texts = fieldMatches.filter(isText);
  const isContradicted = texts.length > 0 && texts.every(({ hasOtherNumber }) => hasOtherNumber);
  if (isContradicted) delete signals.text_margin;
  return {
    ...signals,
    ...(coverage > 0 && {
      term_coverage: coverage,
      bm25_normalized: Math.min(coverage, bm25_normalized),
    }),
    ...(labelCoverage > 0 && { label_coverage: labelCoverage }),
  };
}
