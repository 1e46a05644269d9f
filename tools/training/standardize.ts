import type { Weights } from "../../local/engine/joint-space/towers.ts";
import type { Dense } from "./dense.ts";
import { createMatrix, type Matrix, rowOf } from "./matrix.ts";

/** Mean and standard deviation of each column. */
export interface ColumnStatistics {
  means: Float32Array;
  deviations: Float32Array;
}

/** Lower bound of deviations: columns that hardly vary would be scaled up too much. */
const MIN_DEVIATION = 1e-3;

export function measureColumns({ rows, columns, data }: Matrix): ColumnStatistics {
  const sums = new Float64Array(columns);
  const squares = new Float64Array(columns);
  for (let at = 0; at < data.length; at++) {
    sums[at % columns]! += data[at]!;
    squares[at % columns]! += data[at]! ** 2;
  }
  const means = Float32Array.from(sums, (sum) => sum / rows);
  const deviations = Float32Array.from(squares, (sum, at) =>
    Math.max(MIN_DEVIATION, Math.sqrt(Math.max(0, sum / rows - means[at]! ** 2))),
  );
  return { means, deviations };
}

export function standardize(matrix: Matrix, { means, deviations }: ColumnStatistics): Matrix {
  const { columns } = matrix;
  const data = matrix.data.map(
    (value, at) => (value - means[at % columns]!) / deviations[at % columns]!,
  );
  return { ...matrix, data };
}

/**
 * Folds standardisation into a dense layer, so that it takes raw input; the bias is the last row.
 */
export function foldStandardization(
  { weights, bias }: Dense,
  { means, deviations }: ColumnStatistics,
): Weights {
  const { rows, columns } = weights.value;
  const folded = createMatrix(rows + 1, columns);
  const last = rowOf(folded, rows);
  last.set(bias.value.data);
  for (let row = 0; row < rows; row++) {
    const to = rowOf(folded, row);
    to.set(rowOf(weights.value, row).map((value) => value / deviations[row]!));
    for (let at = 0; at < columns; at++) last[at]! -= means[row]! * to[at]!;
  }
  return { inputs: rows + 1, outputs: columns, data: folded.data };
}
