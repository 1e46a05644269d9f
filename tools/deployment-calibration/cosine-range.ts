import { SEARCH } from "../../src/config.ts";
import { type EvidenceModel, type SignalWeight } from "../../src/search/fuse.ts";

/** Where the cosines of the nearest vectors lie. */
export interface CosineRange {
  mean: number;
  deviation: number;
}

/** Returns the range of queries' cosines with the nearest vectors, as many as a search reads. */
export function cosineRange(
  queries: readonly number[][],
  vectors: readonly number[][],
): CosineRange {
  const nearest = queries.flatMap((query) => {
    const cosines = vectors.map((vector) => cosineOf(query, vector));
    return cosines.toSorted((a, b) => b - a).slice(0, SEARCH.maxCandidates);
  });
  const average = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const mean = average(nearest);
  const deviation = Math.sqrt(average(nearest.map((cosine) => (cosine - mean) ** 2)));
  return { mean, deviation };
}

function cosineOf(one: readonly number[], other: readonly number[]): number {
  const product = one.reduce((sum, value, i) => sum + value * other[i]!, 0);
  return product / (Math.hypot(...one) * Math.hypot(...other) || 1);
}

/** Makes an evidence model say of cosines in one range what it says of those in another. */
export function moveCosines(
  model: EvidenceModel,
  from: CosineRange,
  to: CosineRange,
): EvidenceModel {
  const scale = to.deviation / from.deviation;
  const { image_similarity: similarity, image_margin: margin } = model.weights;
  const rescale = (fit: SignalWeight, threshold: number): SignalWeight => {
    return { ...fit, threshold, weight: fit.weight / scale ** fit.exponent };
  };
  const moved = similarity && to.mean + (similarity.threshold - from.mean) * scale;
  return {
    ...model,
    weights: {
      ...model.weights,
      ...(moved !== undefined && { image_similarity: rescale(similarity!, moved) }),
      ...(margin && { image_margin: rescale(margin, margin.threshold * scale) }),
    },
  };
}
