import type { Shape } from "./fit.ts";

/*
 * How signals are taken (docs/benchmarks.md has what was tried). Most of the words say far less than all of
 * them, and a small lead of looks far less than a large one.
 */

/** Of so many segments and more, how few there are says nothing. */
const MOST_SEGMENTS = 1e6;

/** By words: that it tells all that is asked for; that it tells the like; and how it looks. */
export const HOLDS = { told: { from: 0, power: 12 } } as const satisfies Shape;
export const RESEMBLES = {
  bm25: { from: 0, power: 0.7 },
  meaningLead: { from: -0.05, power: 1 },
} as const satisfies Shape;
export const LOOKS = {
  detected: { from: 0, power: 3 },
  picture: { from: 0.1, power: 1 },
  pictureLead: { from: -0.05, power: 2 },
  few: { from: -Math.log(MOST_SEGMENTS), power: 1 },
} as const satisfies Shape;

/** By pictures. */
export const LIKENESS = {
  picture: LOOKS.picture,
  pictureLead: LOOKS.pictureLead,
  same: { from: 0.9, power: 1 },
} as const satisfies Shape;
export const BLIND_LIKENESS = { same: LIKENESS.same } as const satisfies Shape;
