import { createMatrix, type Matrix, rowOf } from "./matrix.ts";

/** Rows of length 1, and their original lengths. */
export interface NormalizedRows {
  rows: Matrix;
  lengths: Float32Array;
}

export function normalizeRows(input: Matrix): NormalizedRows {
  const rows = createMatrix(input.rows, input.columns);
  const lengths = new Float32Array(input.rows);
  for (let row = 0; row < input.rows; row++) {
    const length = Math.hypot(...rowOf(input, row)) || 1;
    lengths[row] = length;
    rowOf(rows, row).set(rowOf(input, row).map((value) => value / length));
  }
  return { rows, lengths };
}

/**
 * Returns the gradient with respect to the input of `normalizeRows`, from the gradient of its
 * output.
 */
export function backpropagateNormalization(
  { rows, lengths }: NormalizedRows,
  gradient: Matrix,
): Matrix {
  const output = createMatrix(rows.rows, rows.columns);
  for (let row = 0; row < rows.rows; row++) {
    const unit = rowOf(rows, row);
    const from = rowOf(gradient, row);
    const along = unit.reduce((sum, value, at) => sum + value * from[at]!, 0);
    const length = lengths[row] ?? 1;
    rowOf(output, row).set(unit.map((value, at) => (from[at]! - value * along) / length));
  }
  return output;
}
