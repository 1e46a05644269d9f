import { createHash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createMatrix, type Matrix } from "./matrix.ts";

/** Cached rows, for all clones: the name of a file is the hash of what its rows depend on. */
export const CACHE_FOLDER = join(
  process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"),
  "sightline",
);

/** Computes any number of rows that follow row `from`. */
export type ComputeRows = (from: number) => Promise<Float32Array>;

/**
 * Computes a matrix whose rows are saved to the file `path` as they come, so that an interrupted
 * run resumes. `report` gets the number of rows so far.
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
    const storedRows = Math.floor((await file.stat()).size / rowBytes);
    // Drops a row that was incomplete when the last run ended.
    await file.truncate(storedRows * rowBytes);
    let rows = Math.min(size.rows, storedRows);
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

/** Returns a short hash of `parts`. */
export function nameCache(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
