import type { VectorHit } from "../store/vectors.ts";
import type { WordColumn } from "../store/words.ts";
import type { Segment } from "../types.ts";
import { excerptOf } from "./excerpt.ts";
import type { Match, Terms } from "./terms.ts";

type EvidenceKind = "visual" | "speech" | "text" | "caption";

/** Why a segment is a hit. */
export interface Evidence {
  kind: EvidenceKind;
  /** 0 to 1: the cosine of the meaning, or the share of the query's words, whichever is higher. */
  score: number;
  /** The words around the match as HTML, the matched ones in `<mark>`. */
  text?: string;
}

/** The words of a segment, as far as they are looked at. */
export type Wording = Pick<Segment, "caption" | "transcript" | "onScreenText" | "labels" | "boxes">;

interface Reading {
  textOf: (segment: Wording) => string;
  kind: EvidenceKind;
}

const READINGS: Record<WordColumn, Reading> = {
  caption: { textOf: ({ caption }) => caption, kind: "caption" },
  transcript: { textOf: ({ transcript }) => transcript, kind: "speech" },
  on_screen_text: { textOf: ({ onScreenText }) => onScreenText, kind: "text" },
  labels: { textOf: ({ labels }) => labels.join(", "), kind: "visual" },
};

const BOXES: Reading = {
  textOf: ({ boxes }) => [...new Set(boxes.map(({ label }) => label))].join(", "),
  kind: "visual",
};

/** What a column of a segment, or the labels of its boxes, have of a query's words. */
export interface Passage {
  kind: EvidenceKind;
  isBoxes: boolean;
  text: string;
  matches: Match[];
}

/** Where in a segment any of the query's words stand: in its columns, and in its boxes where they count. */
export function findPassages(
  segment: Wording,
  terms: Terms,
  { columns, boxes }: { columns: readonly WordColumn[]; boxes: boolean },
): Passage[] {
  const readings = [...columns.map((column) => READINGS[column]), ...(boxes ? [BOXES] : [])];
  return readings.flatMap((reading) => {
    const text = reading.textOf(segment);
    const matches = terms.findIn(text);
    const isBoxes = reading === BOXES;
    return matches.length > 0 ? [{ kind: reading.kind, isBoxes, text, matches }] : [];
  });
}

/** The share of what a query's words tell that stands in passages, by what each tells. */
export function toldShareOf(
  passages: readonly Pick<Passage, "matches">[],
  weights: readonly number[],
): number {
  const found = termsIn(passages);
  const sum = (some: readonly number[]) => some.reduce((total, weight) => total + weight, 0);
  return found.size === 0 ? 0 : sum(weights.filter((_, term) => found.has(term))) / sum(weights);
}

function shareOf(passages: readonly Passage[], terms: Terms): number {
  return termsIn(passages).size / terms.count;
}

function termsIn(passages: readonly Pick<Passage, "matches">[]): Set<number> {
  return new Set(passages.flatMap(({ matches }) => matches.map(({ term }) => term)));
}

/** A passage, to be seen. */
export function evidenceOfPassage(passage: Passage, terms: Terms): Evidence {
  const { kind, text, matches } = passage;
  return { kind, score: shareOf([passage], terms), text: excerptOf(text, matches) };
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
