import type { ModelShape } from "./fit.ts";

/**
 * Thresholds and exponents of the evidence models; docs/experiments has what was tried. Most of the
 * query terms say far less than all of them, and a small image margin far less than a large one.
 */

/** Evidence models of text queries: all terms match exactly, similar text, similar image. */
export const EXACT_TEXT = {
  term_coverage: { threshold: 0, exponent: 12 },
} as const satisfies ModelShape;
export const SIMILAR_TEXT = {
  bm25_normalized: { threshold: 0, exponent: 0.7 },
  text_margin: { threshold: -0.05, exponent: 1 },
} as const satisfies ModelShape;
export const IMAGE = {
  label_coverage: { threshold: 0, exponent: 3 },
  image_similarity: { threshold: 0.1, exponent: 3 },
  image_margin: { threshold: -0.05, exponent: 3 },
} as const satisfies ModelShape;

/** Evidence models of queries by example. */
export const EXAMPLE = {
  image_similarity: { threshold: 0.1, exponent: 1 },
  image_margin: { threshold: -0.05, exponent: 2 },
  copy_similarity: { threshold: 0.9, exponent: 1 },
} as const satisfies ModelShape;
export const EXAMPLE_NO_IMAGE = {
  copy_similarity: EXAMPLE.copy_similarity,
} as const satisfies ModelShape;
