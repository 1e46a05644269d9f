/** How the numbers of relevant segments depend on scores, in log odds. */
export interface CountModel {
  /** Coefficients of a found segment, by how far its score is above the lowest one. */
  hit: { offset: number; slope: number; deviation: number };
  /** Coefficients of any other segment, by the share of the archive that was found. */
  unfound: { offset: number; slope: number; deviation: number };
  /** What is added for segments that are near without more evidence. */
  near: number;
  /** What is added to `near` and to `unfound.offset` where segments have no text. */
  imagesAlone: { near: number; unfound: number };
  /** Standard deviation of what the segments of an asset share. */
  assetDeviation: number;
  /** Correlation of the deviations of found and unfound segments of a query. */
  correlation: number;
}

/** What the numbers of a query's segments depend on. */
export interface CountedQuery {
  /** Sum of the excesses of found segments, and segments in scope. */
  mass: number;
  total: number;
  /** Whether segments have text. */
  hasText: boolean;
}

/**
 * Fitted by maximum likelihood to searches of archives of the photos for training: a logistic
 * regression with random intercepts of queries and of assets (Breslow and Clayton, "Approximate
 * inference in generalized linear mixed models", JASA 1993).
 */
export const COUNT_MODEL: CountModel = {
  hit: { offset: 0.11, slope: 0.98, deviation: 1.42 },
  unfound: { offset: -3.04, slope: 0.86, deviation: 1.51 },
  near: 0.34,
  imagesAlone: { near: 0.44, unfound: -0.39 },
  assetDeviation: 0.96,
  correlation: 0.48,
};

/** Added to the mass and to the total, so that a share of nothing has log odds. */
const PRIOR = { mass: 0.3, total: 30 };

/** Returns the log odds of a segment that wasn't found, for the mean query. */
export function unfoundLogOdds(model: CountModel, query: CountedQuery): number {
  const share = (query.mass + PRIOR.mass) / (query.total + PRIOR.total);
  const shift = query.hasText ? 0 : model.imagesAlone.unfound;
  return model.unfound.offset + model.unfound.slope * Math.log(share) + shift;
}

/** Returns by how much the log odds of a segment that is merely near are higher. */
export function nearLogOdds(model: CountModel, { hasText }: CountedQuery): number {
  return model.near + (hasText ? 0 : model.imagesAlone.near);
}

/** Returns how far a score is above the lowest one, as a share of the distance to 1. */
export function excessOf(score: number, lowest: number): number {
  return Math.min(1, Math.max(0, (score - lowest) / (1 - lowest)));
}
