import type { EvidenceKind } from "../evidence-kind.ts";
import type { FtsColumn } from "../store/index-database/fulltext.ts";
import type { VectorHit } from "../store/vectorize/vectors.ts";
import type { Segment } from "../types.ts";
import { highlightMatches } from "./highlight.ts";
import type { QueryTerms, TermMatch } from "./query-terms.ts";

/** One kind of evidence for a hit. */
export interface Evidence {
  kind: EvidenceKind;
  /** 0–1: cosine of the embeddings or share of the query's terms, whichever is higher. */
  score: number;
  /** Excerpt around the matches as HTML, with matched terms in `<mark>`. */
  text?: string;
}

/** The text fields of a segment that terms are matched in. */
export type SearchableText = Pick<
  Segment,
  "caption" | "transcript" | "onScreenText" | "labels" | "boxes"
>;

interface FieldReader {
  read: (segment: SearchableText) => string;
  kind: EvidenceKind;
}

const FIELD_READERS: Record<FtsColumn, FieldReader> = {
  caption: { read: ({ caption }) => caption, kind: "caption" },
  transcript: { read: ({ transcript }) => transcript, kind: "speech" },
  on_screen_text: { read: ({ onScreenText }) => onScreenText, kind: "text" },
  labels: { read: ({ labels }) => labels.join(", "), kind: "visual" },
};

const BOX_LABELS_READER: FieldReader = {
  read: ({ boxes }) => [...new Set(boxes.map(({ label }) => label))].join(", "),
  kind: "visual",
};

/** Returns the number of characters in which terms are matched. */
export function textLength({ caption, transcript, onScreenText }: SearchableText): number {
  return caption.length + transcript.length + onScreenText.length;
}

/** A text field of a segment with at least one query term. */
export interface FieldMatch {
  kind: EvidenceKind;
  isBoxLabels: boolean;
  text: string;
  matches: TermMatch[];
  /** Whether the text has another number in place of one of the query. */
  hasOtherNumber?: boolean;
}

/** Matches query terms in the fields of a segment that are in scope. */
export function matchFields(
  segment: SearchableText,
  terms: QueryTerms,
  { columns, useBoxLabels }: { columns: readonly FtsColumn[]; useBoxLabels: boolean },
): FieldMatch[] {
  const readers = columns.map((column) => FIELD_READERS[column]);
  if (useBoxLabels) readers.push(BOX_LABELS_READER);
  return readers.flatMap((reader) => {
    const text = reader.read(segment);
    const matches = terms.findMatches(text);
    const isBoxLabels = reader === BOX_LABELS_READER;
    if (matches.length === 0) return [];
    const hasOtherNumber = terms.hasOtherNumber(text, matches);
    return [{ kind: reader.kind, isBoxLabels, text, matches, hasOtherNumber }];
  });
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
