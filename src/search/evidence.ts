import type { AssetNames } from "../asset-names.ts";
import type { SegmentId } from "../ids.ts";
import { type FtsColumn, type Token, tokenize } from "../store/index-database/fulltext.ts";
import type { FtsHit } from "../store/index-database/index-database.ts";
import type { VectorHit } from "../store/vectorize/vectors.ts";
import { type Language, toLanguage } from "../text/languages.ts";
import type { QueryTerms, TermMatch } from "../text/query-terms.ts";
import { speechOf } from "../text/sentences.ts";
import type { TimeRangeMs } from "../time-range.ts";
import { type EvidenceKind, type Segment, TEMPLATE } from "../types.ts";
import { type EvidenceModels, mergeSignals, relevanceProbability, type Signals } from "./fuse.ts";
import type { CompiledQuery } from "./query.ts";

export interface Evidence {
  kind: EvidenceKind;
  /** 0–1: cosine of the embeddings or share of the query's terms, whichever is higher. */
  score: number;
  /** Excerpt around the matches as HTML, with matched terms in `<mark>`. */
  text?: string;
}

export type SearchableText = Pick<
  Segment,
  | "caption"
  | "captionModel"
  | "transcript"
  | "speechBefore"
  | "speechAfter"
  | "onScreenText"
  | "labels"
  | "boxes"
  | "language"
>;

interface FieldReader {
  kind: EvidenceKind;
  read: (segment: SearchableText) => string;
  /** Whether a model wrote the text, in English. */
  isEnglish?: true;
}

export const FIELD_READERS: Record<FtsColumn | "boxes", FieldReader> = {
  caption: { kind: "caption", read: ({ caption }) => caption, isEnglish: true },
  transcript: { kind: "speech", read: speechOf },
  on_screen_text: { kind: "text", read: ({ onScreenText }) => onScreenText },
  labels: { kind: "visual", read: ({ labels }) => labels.join(", "), isEnglish: true },
  boxes: {
    kind: "visual",
    read: ({ boxes }) => [...new Set(boxes.map(({ label }) => label))].join(", "),
    isEnglish: true,
  },
};

/** Returns the number of characters in which terms are matched. */
export function textLength({ caption, transcript, onScreenText }: SearchableText): number {
  return caption.length + transcript.length + onScreenText.length;
}

export interface FieldMatch {
  kind: EvidenceKind;
  /** Whether the text only lists what a detector found. */
  isLabels: boolean;
  text: string;
  matches: TermMatch[];
  /** Whether the text has another number in place of one of the query. */
  hasOtherNumber?: boolean;
}

/**
 * Matches query terms in the fields of a segment that are in scope. A template caption and its
 * labels only list what a detector found, like the labels of boxes.
 */
export function matchFields(
  segment: SearchableText,
  terms: QueryTerms,
  { columns, useBoxLabels }: { columns: readonly FtsColumn[]; useBoxLabels: boolean },
): FieldMatch[] {
  const isTemplate = segment.captionModel === TEMPLATE;
  const fields = useBoxLabels ? [...columns, "boxes" as const] : columns;
  return fields.flatMap((field) => {
    const { kind, read, isEnglish } = FIELD_READERS[field];
    const isLabels = field === "boxes" || (isTemplate && isEnglish === true);
    const language = isEnglish ? "en" : toLanguage(segment.language);
    const matched = matchField({ kind, isLabels, text: read(segment) }, terms, language);
    return field === "transcript" ? matched.flatMap((one) => withOwnSpeech(one, segment)) : matched;
  });
}

/**
 * Drops a match in speech if all of its words are a neighbour's. Otherwise the neighbour's words
 * count, but a little less than the segment's own.
 */
function withOwnSpeech(match: FieldMatch, { speechBefore, transcript }: SearchableText) {
  const from = match.text.startsWith(`${speechBefore} `) ? speechBefore.length + 1 : 0;
  const isOwn = ({ start, end }: TermMatch) => end > from && start < from + transcript.length;
  if (!match.matches.some(isOwn)) return [];
  const matches = match.matches.map((one) => (isOwn(one) ? one : { ...one, isExact: false }));
  return [{ ...match, matches }];
}

/** Matches query terms in one text; none without a match. */
function matchField(
  field: Pick<FieldMatch, "kind" | "isLabels" | "text">,
  terms: QueryTerms,
  language: Language,
): FieldMatch[] {
  const found = terms.findMatches(field.text, language, field.kind === "text");
  const matches = field.isLabels ? inWholeLabels(field.text, found) : found;
  if (matches.length === 0) return [];
  return [{ ...field, matches, hasOtherNumber: terms.hasOtherNumber(field.text, matches) }];
}

/** A label of a list or of a template caption, without its count. */
const LABEL = // bounded: MAX_DESCRIPTION
  /(?:(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|many) )?(?:pairs? of )?(.+?)(?:, | and |\.?$)/giu;

/**
 * Selects the matches in labels all of whose words are matched: a "hot dog" is no dog. Sentences
 * before a template caption are the image's alternative text.
 */
function inWholeLabels(text: string, matches: readonly TermMatch[]): TermMatch[] {
  if (matches.length === 0) return [];
  const from = text.lastIndexOf(". ") + 1;
  const inLabels = [...text.slice(from).matchAll(LABEL)].flatMap(
    ({ 0: whole, 1: label, index }) => {
      const start = from + index;
      const end = start + whole.length;
      const own = matches.filter((match) => match.start >= start && match.start < end);
      const isWhole = tokenize(label!).every((token) => {
        const at = text.indexOf(label!, start) + token.start;
        return own.some((match) => match.start <= at && at < match.end);
      });
      return isWhole ? own : [];
    },
  );
  return [...matches.filter(({ start }) => start < from), ...inLabels];
}

/** Matches query terms in the names of an asset, which are in the language of its segments. */
export function matchNames(
  names: AssetNames,
  { language }: Pick<Segment, "language">,
  terms: QueryTerms,
): FieldMatch[] {
  return (["title", "description"] as const).flatMap((kind) =>
    matchField({ kind, isLabels: false, text: names[kind] }, terms, toLanguage(language)),
  );
}

/** What a term counts that is found in another form: a little less than as written. */
const OTHER_FORM = 0.9995;

/** Returns the share of query terms in the fields, 0–1, each term counting by its weight. */
export function termCoverage(
  fields: readonly Pick<FieldMatch, "matches">[],
  weights: readonly number[],
): number {
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  if (all === 0) return 0;
  let found = 0;
  for (const [term, isExact] of matchedTerms(fields)) {
    found += weights[term]! * (isExact ? 1 : OTHER_FORM);
  }
  return found / all;
}

/** Returns the terms that were found, and whether one was found as written. */
function matchedTerms(fields: readonly Pick<FieldMatch, "matches">[]): Map<number, boolean> {
  const found = new Map<number, boolean>();
  for (const { term, isExact } of fields.flatMap(({ matches }) => matches)) {
    found.set(term, isExact || (found.get(term) ?? false));
  }
  return found;
}

/** Scores a field by the unweighted share of the query's terms, and highlights its matches. */
export function fieldEvidence(field: FieldMatch, terms: QueryTerms): Evidence {
  const { kind, text, matches } = field;
  const score = matchedTerms([field]).size / terms.count;
  return { kind, score, text: highlightMatches(text, matches) };
}

export function vectorEvidence({ kind, cosine }: VectorHit): Evidence {
  return {
    kind: kind === "image" ? "visual" : kind,
    score: Math.min(1, Math.max(0, cosine)),
  };
}

/**
 * Merges evidence of the same kind with the highest score, and sorts it by score. Leaves out
 * evidence with a score of 0.
 */
export function mergeEvidence(evidence: Evidence[]): Evidence[] {
  const byKind = new Map<EvidenceKind, Evidence>();
  for (const next of evidence) {
    const merged = byKind.get(next.kind);
    const score = Math.max(next.score, merged?.score ?? 0);
    byKind.set(next.kind, { ...merged, ...next, score });
  }
  const proven = [...byKind.values()].filter(({ score }) => score > 0);
  return proven.toSorted((a, b) => b.score - a.score);
}

/** Maximum length of an excerpt, in UTF-16 units. */
const MAX_LENGTH = 240;
/** Length of the context before the first match, in UTF-16 units. */
const LEAD_LENGTH = 40;

/**
 * Returns an excerpt as HTML, with matches in `<mark>`: the first range with the most distinct
 * terms. Cuts between words, and puts "…" where text was cut.
 */
export function highlightMatches(text: string, matches: readonly TermMatch[]): string {
  const { start, end } = excerptRange(text, matches);
  let html = start > 0 ? "…" : "";
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.end > end) continue; // overlaps another match, or was cut
    const word = escapeHtml(text.slice(match.start, match.end));
    html += `${escapeHtml(text.slice(at, match.start))}<mark>${word}</mark>`;
    at = match.end;
  }
  return html + escapeHtml(text.slice(at, end)) + (end < text.length ? "…" : "");
}

/** Moves over the text once: ranges neither start nor end before the last one does. */
function excerptRange(text: string, matches: readonly TermMatch[]): { start: number; end: number } {
  if (text.length <= MAX_LENGTH) return { start: 0, end: text.length };
  const tokens = tokenize(text);
  const counts = new Map<number, number>();
  const count = ({ term }: TermMatch, change: 1 | -1) => {
    const changed = (counts.get(term) ?? 0) + change;
    if (changed === 0) counts.delete(term);
    else counts.set(term, changed);
  };
  let [firstToken, nextToken, firstMatch, nextMatch] = [0, 0, 0, 0];
  let best = { start: 0, end: 0, terms: 0 };
  for (const first of matches) {
    const from = Math.max(0, Math.min(first.start - LEAD_LENGTH, text.length - MAX_LENGTH));
    while (firstToken < tokens.length && tokens[firstToken]!.start < from) firstToken += 1;
    while (nextToken < tokens.length && endOf(tokens[nextToken]!) <= from + MAX_LENGTH) {
      nextToken += 1;
    }
    const isEmpty = nextToken <= firstToken; // the first match is longer than an excerpt
    const start = isEmpty ? first.start : tokens[firstToken]!.start;
    const end = isEmpty ? first.end : endOf(tokens[nextToken - 1]!);
    while (nextMatch < matches.length && matches[nextMatch]!.end <= end) {
      count(matches[nextMatch++]!, 1);
    }
    while (firstMatch < nextMatch && matches[firstMatch]!.start < start) {
      count(matches[firstMatch++]!, -1);
    }
    if (counts.size > best.terms) best = { start, end, terms: counts.size };
  }
  return best;
}

function endOf({ word, start }: Token): number {
  return start + word.length;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A segment that a retrieval channel found, with the channel's signals. */
export interface ChannelHit {
  segmentId: SegmentId;
  signals: Signals;
  /** Null for full text: terms are matched in all candidates, whichever channel found them. */
  evidence: Evidence | null;
  /** The matching part of the video; null for the whole segment. */
  timeRange: TimeRangeMs | null;
}

export interface SegmentFindings {
  channelHits: readonly ChannelHit[];
  fieldMatches: readonly FieldMatch[];
}

export interface SegmentScore {
  signals: Signals;
  /** The probability that the segment is relevant. */
  score: number;
}

export function scoreSignals(signals: Signals, models: EvidenceModels): SegmentScore {
  return { signals, score: relevanceProbability(signals, models) };
}

/** Lowest share of segments with text where text is expected of what is relevant. */
const MIN_TEXT_SHARE = 0.25;

/**
 * Tests whether the segments in scope have text, by what a search found: the nearest text and the
 * nearest images. If few segments have text, a missing text isn't held against one.
 */
export function hasEnoughText(withText: number, found: number): boolean {
  return withText > 0 && withText >= MIN_TEXT_SHARE * found;
}

/** Tests whether a segment was found by its text. Labels aren't text: detectors find them. */
export function isFoundByText({ term_coverage, text_margin }: Signals): boolean {
  return term_coverage !== undefined || text_margin !== undefined;
}

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
 * Combines all signals of a segment. Terms in labels count as `label_coverage`, but neither numbers
 * in them, as a detector that finds people often misses some, nor the embedding of a template. BM25
 * is at most the term coverage. The margin doesn't count for a text with another number than the
 * query.
 */
export function combineSignals(
  { captionModel }: Pick<Segment, "captionModel">,
  channelHits: readonly Pick<ChannelHit, "signals" | "evidence">[],
  fieldMatches: readonly TermField[],
  termWeights: readonly number[],
): Signals {
  const isTemplate = captionModel === TEMPLATE;
  const isText = ({ isLabels }: TermField) => !isLabels;
  const labels = fieldMatches
    .filter(({ isLabels }) => isLabels)
    .map(({ matches }) => {
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

/**
 * Bound of a term's BM25 divided by its inverse document frequency: k1 + 1, with FTS5's k1 = 1.2.
 */
const MAX_BM25_PER_IDF = 2.2;

/** Converts full-text hits. `termWeights` are the inverse document frequencies of the terms. */
export function toFullTextHits(hits: FtsHit[], termWeights: readonly number[]): ChannelHit[] {
  const maxBm25 = MAX_BM25_PER_IDF * termWeights.reduce((sum, weight) => sum + weight, 0);
  return hits.map(({ segmentId, bm25 }) => {
    const signals = { bm25_normalized: maxBm25 > 0 ? Math.min(1, bm25 / maxBm25) : 0 };
    return { segmentId, signals, evidence: null, timeRange: null };
  });
}
