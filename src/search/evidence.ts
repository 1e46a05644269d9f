import { stemmer } from "stemmer";
import type { VectorHit } from "../store/vectors.ts";
import { MARK, WORD_COLUMNS, type WordColumn, type WordHit } from "../store/words.ts";
import { wordsOf } from "./query.ts";
import type { Signal, Signals } from "./signals.ts";

type EvidenceKind = "visual" | "speech" | "text" | "caption";

/** Why a segment is a hit. */
export interface Evidence {
  kind: EvidenceKind;
  /** 0 to 1: the cosine of the meaning, or the share of the query's words, whichever is higher. */
  score: number;
  /** The words around the match as HTML, the matched ones in `<mark>`. */
  text?: string;
}

const KIND_OF_COLUMN: Record<WordColumn, EvidenceKind> = {
  caption: "caption",
  transcript: "speech",
  on_screen_text: "text",
  labels: "visual",
};

const SIGNAL_OF_COLUMN: Record<WordColumn, Signal> = {
  caption: "shown",
  transcript: "said",
  on_screen_text: "written",
  labels: "shown",
};

const MARKED = new RegExp(`${MARK.start}(.*?)${MARK.end}`, "gs");

/**
 * Which share of the query's words is in what the segment shows, says and has written, and where. Words
 * are told apart by their stems, as the full-text index does (Porter, "An algorithm for suffix
 * stripping", 1980).
 */
export function readWords(
  snippets: WordHit["snippets"],
  queryWords: readonly string[],
): { shares: Signals; evidence: Evidence[] } {
  const wanted = countStems(queryWords);
  const shareOf = (words: string[]) => Math.min(1, countStems(words) / wanted);
  const found = WORD_COLUMNS.map((column) => {
    const snippet = snippets[column];
    const matched = [...snippet.matchAll(MARKED)].flatMap(([, word]) => wordsOf(word!));
    return { column, snippet, matched };
  }).filter(({ matched }) => matched.length > 0);
  const shares: Signals = {};
  for (const [signal, some] of Map.groupBy(found, ({ column }) => SIGNAL_OF_COLUMN[column])) {
    shares[signal] = shareOf(some.flatMap(({ matched }) => matched));
  }
  const evidence = found.map(({ column, snippet, matched }) => {
    return { kind: KIND_OF_COLUMN[column], score: shareOf(matched), text: toHtml(snippet) };
  });
  return { shares, evidence };
}

function countStems(words: readonly string[]): number {
  return new Set(words.map(stemmer)).size;
}

export function evidenceOfVector({ kind, cosine }: VectorHit): Evidence {
  return {
    kind: kind === "picture" ? "visual" : kind,
    score: Math.min(1, Math.max(0, cosine)),
  };
}

/** One piece of evidence a kind, the strongest first. */
export function mergeEvidence(evidence: Evidence[]): Evidence[] {
  const byKind = new Map<EvidenceKind, Evidence>();
  for (const piece of evidence) {
    const known = byKind.get(piece.kind);
    byKind.set(piece.kind, {
      ...known,
      ...piece,
      score: Math.max(piece.score, known?.score ?? 0),
    });
  }
  return [...byKind.values()].toSorted((a, b) => b.score - a.score);
}

function toHtml(snippet: string): string {
  return snippet
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(MARK.start, "<mark>")
    .replaceAll(MARK.end, "</mark>");
}
