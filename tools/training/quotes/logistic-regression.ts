/** Features of an example, in a fixed order, and whether it is right. */
export interface LabelledFeatures {
  features: readonly number[];
  isRight: boolean;
  weight: number;
}

const ROUNDS = 600;
const RATE = 0.1;
const L2_PENALTY = 1e-3;
/** Decay of the means of gradients and of their squares. */
const DECAY = { mean: 0.9, square: 0.999 };

/**
 * Fits a logistic regression with a small L2 penalty by full-batch gradient descent (Adam: Kingma
 * and Ba, "Adam: A Method for Stochastic Optimization", 2015). Returns the weight of each feature.
 */
export function fitLogisticRegression(examples: readonly LabelledFeatures[]): number[] {
  const size = examples[0]?.features.length ?? 0;
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const weights = zeros(size);
  const means = zeros(size);
  const squares = zeros(size);
  for (let round = 1; round <= ROUNDS; round++) {
    const gradient = zeros(size);
    for (const { features, isRight, weight } of examples) {
      const error = (probabilityOf(features, weights) - Number(isRight)) * weight;
      for (let i = 0; i < size; i++) gradient[i]! += error * features[i]!;
    }
    for (let i = 0; i < size; i++) {
      const slope = gradient[i]! / total + L2_PENALTY * weights[i]!;
      means[i] = DECAY.mean * means[i]! + (1 - DECAY.mean) * slope;
      squares[i] = DECAY.square * squares[i]! + (1 - DECAY.square) * slope ** 2;
      const mean = means[i]! / (1 - DECAY.mean ** round);
      const square = squares[i]! / (1 - DECAY.square ** round);
      weights[i]! -= (RATE * mean) / (Math.sqrt(square) + 1e-8);
    }
  }
  return weights;
}

function zeros(size: number): number[] {
  return Array.from({ length: size }, () => 0);
}

export function probabilityOf(features: readonly number[], weights: readonly number[]): number {
  const logOdds = features.reduce((sum, value, i) => sum + value * weights[i]!, 0);
  return 1 / (1 + Math.exp(-logOdds));
}
