/** A matrix in row-major order: `inputs` rows and `outputs` columns. */
export interface Weights {
  inputs: number;
  outputs: number;
  data: Float32Array;
}

/** An image tower and a text tower that were trained together. */
export interface EnsembleMember {
  /** Image features → hidden layer. The last row is the bias. */
  imageHidden: Weights;
  /** Hidden layer → joint space. The last row is the bias. */
  imageOut: Weights;
  /** Sentence vector → joint space. The last row is the bias. */
  sentence: Weights;
  /** One row per word of the vocabulary. */
  words: Weights;
}

/** Embeds image features as a unit vector. */
export function embedImage(member: EnsembleMember, features: Float32Array): Float32Array {
  const hidden = applyDense(member.imageHidden, features).map(gelu);
  return toUnit(applyDense(member.imageOut, hidden));
}

/** Embeds a text as a unit vector, from its sentence vector and the rows of its words. */
export function embedSentence(
  member: EnsembleMember,
  sentence: Float32Array,
  words: readonly number[],
): Float32Array {
  const output = applyDense(member.sentence, sentence);
  for (const word of words) addRow(output, member.words, word, wordShare(words.length));
  return toUnit(output);
}

/** Weight of each of `count` words: the sum of orthogonal unit vectors then has length 1. */
export function wordShare(count: number): number {
  return 1 / Math.sqrt(count);
}

/**
 * Gaussian error linear unit, approximated by the logistic function (Hendrycks and Gimpel, 2016).
 */
export function gelu(value: number): number {
  return value / (1 + Math.exp(-1.702 * value));
}

/** Derivative of `gelu`. */
export function geluSlope(value: number): number {
  const share = 1 / (1 + Math.exp(-1.702 * value));
  return share * (1 + 1.702 * value * (1 - share));
}

/** Returns the distinct words of an English text in lower case. */
export function tokenizeWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? [])];
}

function applyDense(weights: Weights, input: Float32Array): Float32Array {
  const output = new Float32Array(weights.outputs);
  addRow(output, weights, input.length, 1);
  for (const [row, value] of input.entries()) addRow(output, weights, row, value);
  return output;
}

function addRow(to: Float32Array, { outputs, data }: Weights, row: number, share: number): void {
  const start = row * outputs;
  for (let at = 0; at < outputs; at++) to[at]! += share * data[start + at]!;
}

function toUnit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
