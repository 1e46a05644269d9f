import { createHash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { createMatrix, type Matrix } from "./matrix.ts";

/** Computes the rows that follow row `from`, as many as it likes. */
export type ComputeRows = (from: number) => Promise<Float32Array>;

/**
 * A matrix whose rows are kept in the file `path` as they are computed, so that a run that was ended
 * goes on where it stopped. `report` is told how many rows there are.
 */
export async function cacheRows(
  path: string,
  size: { rows: number; columns: number },
  compute: ComputeRows,
  report: (rows: number) => void,
): Promise<Matrix> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, "a+");
  try {
    const matrix = createMatrix(size.rows, size.columns);
    const rowBytes = size.columns * Float32Array.BYTES_PER_ELEMENT;
    const kept = Math.floor((await file.stat()).size / rowBytes);
    // A row that was being written when the last run ended is dropped.
    await file.truncate(kept * rowBytes);
    let rows = Math.min(size.rows, kept);
    await file.read(new Uint8Array(matrix.data.buffer, 0, rows * rowBytes), { position: 0 });
    while (rows < size.rows) {
      const computed = await compute(rows);
      matrix.data.set(computed, rows * size.columns);
      await file.write(new Uint8Array(computed.buffer, computed.byteOffset, computed.byteLength));
      rows += computed.length / size.columns;
      report(rows);
    }
    return matrix;
  } finally {
    await file.close();
  }
}

/** A short name that differs whenever one of `parts` does. */
export function nameCache(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
