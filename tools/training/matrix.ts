import { matMul, tensor2d, tidy, transpose } from "@tensorflow/tfjs-core";

/** A matrix in row-major order. */
export interface Matrix {
  rows: number;
  columns: number;
  data: Float32Array;
}

export function createMatrix(rows: number, columns: number): Matrix {
  return { rows, columns, data: new Float32Array(rows * columns) };
}

export function rowOf({ columns, data }: Matrix, row: number): Float32Array {
  return data.subarray(row * columns, (row + 1) * columns);
}

/** Copies the rows `picked`, in that order. */
export function pickRows(from: Matrix, picked: readonly number[]): Matrix {
  const to = createMatrix(picked.length, from.columns);
  for (const [at, row] of picked.entries()) to.data.set(rowOf(from, row), at * from.columns);
  return to;
}

/**
 * Multiplies `a` · `b`; transposes either first if asked. The WebAssembly backend must have
 * started.
 */
export function multiply(
  a: Matrix,
  b: Matrix,
  transposed: { a?: boolean; b?: boolean } = {},
): Matrix {
  // The backend is slow with its own transpose flags, so matrices are transposed before.
  const product = tidy(() => {
    const first = tensor2d(a.data, [a.rows, a.columns]);
    const second = tensor2d(b.data, [b.rows, b.columns]);
    return matMul(
      transposed.a ? transpose(first) : first,
      transposed.b ? transpose(second) : second,
    );
  });
  const [rows = 0, columns = 0] = product.shape;
  const data = product.dataSync<"float32">();
  product.dispose();
  return { rows, columns, data };
}
