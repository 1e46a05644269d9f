import { FEEDBACK } from "../parameters.ts";

/** Mean directions of segments that are right and of those that are wrong; null for none. */
export interface Directions {
  relevant: number[] | null;
  irrelevant: number[] | null;
}

/** How far a vector moves by each direction, if that of the query has 1. */
export interface FeedbackWeights {
  relevant: number;
  irrelevant: number;
}

/**
 * Moves the vector of a query towards segments that are right, and away from those that are wrong
 * (Rocchio, "Relevance feedback in information retrieval", 1971).
 */
export function refineVector(
  vector: number[],
  directions: Directions | null,
  weights: FeedbackWeights = FEEDBACK.weights,
): number[] {
  const { relevant = null, irrelevant = null } = directions ?? {};
  if (!relevant && !irrelevant) return vector;
  return toUnit(vector).map(
    (value, i) =>
      value + weights.relevant * (relevant?.[i] ?? 0) - weights.irrelevant * (irrelevant?.[i] ?? 0),
  );
}

export function toUnit(vector: number[]): number[] {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
