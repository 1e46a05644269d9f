import type { Mask } from "../../src/types.ts";

/**
 * Decodes a mask to a byte per pixel, rows from the top. Written after `rleFrString` and
 * `rleDecode` in COCO's maskApi.c, independently of our encoder.
 */
export function decodeMask({ size: [height, width], counts }: Mask): Uint8Array {
  const runs: number[] = [];
  for (let at = 0; at < counts.length;) {
    let value = 0;
    let shift = 0;
    for (let isContinued = true; isContinued; at++, shift += 5) {
      const character = counts.charCodeAt(at) - 48;
      if (!(character >= 0 && character < 64)) throw new Error(`"${counts[at]}" is no character`);
      value |= (character & 31) << shift;
      isContinued = character >= 32;
      if (!isContinued && (character & 16) !== 0) value |= -1 << (shift + 5);
    }
    runs.push(runs.length > 2 ? value + runs.at(-2)! : value);
  }
  const columns = runs.flatMap((run, i) => Array.from({ length: run }, () => i % 2));
  if (columns.length !== width * height) throw new Error(`${columns.length} pixels`);
  return Uint8Array.from(columns, (_, i) => columns[(i % width) * height + Math.floor(i / width)]!);
}
