/** Numbers row by row: what goes in picks the row, what comes out the column. */
export interface Weights {
  inputs: number;
  outputs: number;
  data: Float32Array;
}

/** One picture tower and one text tower that were trained together. */
export interface Member {
  /** Picture features → hidden numbers. The last row is the bias. */
  pictureHidden: Weights;
  /** Hidden numbers → the space. The last row is the bias. */
  pictureOut: Weights;
  /** Sentence vector → the space. The last row is the bias. */
  sentence: Weights;
  /** A row for each word of the vocabulary. */
  words: Weights;
}

/** The vector of a picture from its features; of length 1. */
export function placePicture(member: Member, features: Float32Array): Float32Array {
  const hidden = applyDense(member.pictureHidden, features).map(gelu);
  return toUnit(applyDense(member.pictureOut, hidden));
}

/** The vector of a text from its sentence vector and its words' rows; of length 1. */
export function placeText(
  member: Member,
  sentence: Float32Array,
  words: readonly number[],
): Float32Array {
  const output = applyDense(member.sentence, sentence);
  for (const word of words) addRow(output, member.words, word, wordShare(words.length));
  return toUnit(output);
}

/** How much each of `count` words counts: together they are as long as one, were they unrelated. */
export function wordShare(count: number): number {
  return 1 / Math.sqrt(count);
}

/** The Gaussian error linear unit, by the logistic function (Hendrycks and Gimpel, 2016). */
export function gelu(value: number): number {
  return value / (1 + Math.exp(-1.702 * value));
}

/** How `gelu` changes with its argument. */
export function geluSlope(value: number): number {
  const share = 1 / (1 + Math.exp(-1.702 * value));
  return share * (1 + 1.702 * value * (1 - share));
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
