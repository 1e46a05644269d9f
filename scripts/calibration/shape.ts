import { SEARCH } from "../../src/config.ts";
import type { Shape } from "./fit.ts";

/**
 * How the signals of questions in words are taken (docs/benchmarks.md has what was tried). Most of the
 * words say far less than all of them, a fifth of what they tell says nothing, and a small lead far less
 * than a large one.
 */
export const WORDS_SHAPE = {
  said: { from: 0, power: 3 },
  written: { from: 0, power: 3 },
  told: { from: 0.2, power: 2 },
  meaningLead: { from: -0.05, power: 2 },
  picture: { from: 0.1, power: 1 },
  pictureLead: { from: -0.05, power: 2 },
  few: { from: -Math.log(SEARCH.maxCandidates), power: 1 },
} as const satisfies Shape;

/** Likewise of pictures. */
export const LIKENESS_SHAPE = {
  picture: { from: 0.1, power: 1 },
  pictureLead: { from: -0.05, power: 2 },
  same: { from: 0.9, power: 1 },
} as const satisfies Shape;

/** Likewise without a picture space: captions of a model that sees well say something then. */
export const BLIND_SHAPE = {
  shown: { from: 0, power: 3 },
  said: WORDS_SHAPE.said,
  written: WORDS_SHAPE.written,
  told: { from: 0, power: 2 },
  meaningLead: { from: -0.05, power: 1 },
  few: WORDS_SHAPE.few,
} as const satisfies Shape;

export const BLIND_LIKENESS_SHAPE = { same: LIKENESS_SHAPE.same } as const satisfies Shape;
