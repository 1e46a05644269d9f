import type { ReadText } from "./words-read.ts";
import type { Region } from "./words-find.ts";

/** What was read in a region. */
export interface Reading extends ReadText {
  region: Region;
}

/** A gap below this share of the line's height is a space; a wider one parts columns. */
const SPACE_WIDTH = 0.5;

/** Rows from the top, each from the left. Regions whose middles lie in each other share a row. */
export function groupRows(regions: readonly Region[]): Region[][] {
  const rows: Region[][] = [];
  for (const region of regions.toSorted((a, b) => middle(a) - middle(b))) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (row && first && middle(region) < first.bottom && middle(first) > region.top) {
      row.push(region);
    } else rows.push([region]);
  }
  return rows.map((row) => row.toSorted((a, b) => a.left - b.left));
}

/** Makes one line of the neighbours in a row that only a space parts: large type is found so. */
export function joinRow(row: readonly Reading[]): Reading[] {
  const lines: Reading[] = [];
  for (const reading of row) {
    const before = lines.at(-1);
    if (before && isNextWord(before.region, reading.region)) {
      lines[lines.length - 1] = join(before, reading);
    } else lines.push(reading);
  }
  return lines;
}

function isNextWord(a: Region, b: Region): boolean {
  const [low, high] = [a.bottom - a.top, b.bottom - b.top].toSorted((x, y) => x - y);
  if (low === undefined || high === undefined || high > low * 1.6) return false;
  return b.left - a.right < low * SPACE_WIDTH;
}

function join(a: Reading, b: Reading): Reading {
  const [long, short] = [a.text.length, b.text.length];
  return {
    text: `${a.text} ${b.text}`,
    score: (a.score * long + b.score * short) / (long + short),
    region: {
      left: Math.min(a.region.left, b.region.left),
      top: Math.min(a.region.top, b.region.top),
      right: Math.max(a.region.right, b.region.right),
      bottom: Math.max(a.region.bottom, b.region.bottom),
    },
  };
}

function middle({ top, bottom }: Region): number {
  return (top + bottom) / 2;
}
