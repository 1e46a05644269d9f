import type { VectorHit } from "../store/vectors.ts";
import { MARK, type WordColumn, type WordHit } from "../store/words.ts";
import { wordsOf } from "./query.ts";

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

const MARKED = new RegExp(`${MARK.start}(.*?)${MARK.end}`, "gs");

/** The columns in which the query's words were found. */
export function evidenceOfWords({ snippets }: WordHit, queryWords: number): Evidence[] {
  return Object.entries(snippets).flatMap(([column, snippet]) => {
    const matched = [...(snippet ?? "").matchAll(MARKED)].flatMap(([, word]) => wordsOf(word!));
    if (matched.length === 0) return [];
    return {
      kind: KIND_OF_COLUMN[column as WordColumn],
      score: Math.min(1, new Set(matched).size / queryWords),
      text: toHtml(snippet),
    };
  });
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
