import type { TextRegion } from "./text-detection.ts";
import type { RecognizedText } from "./text-recognition.ts";

/** Recognised text and its region. */
export interface RecognizedRegion extends RecognizedText {
  region: TextRegion;
}

/** Share of the line height: a smaller gap is a space, a larger one separates columns. */
const SPACE_WIDTH = 0.5;

/** Groups regions to rows in reading order; two share a row if each contains the other's centre. */
export function groupLines(regions: readonly TextRegion[]): TextRegion[][] {
  const rows: TextRegion[][] = [];
  for (const region of regions.toSorted((a, b) => middleY(a) - middleY(b))) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (row && first && middleY(region) < first.bottom && middleY(first) > region.top) {
      row.push(region);
    } else rows.push([region]);
  }
  return rows.map((row) => row.toSorted((a, b) => a.left - b.left));
}

/** Merges neighbours in a row that a space separates: large type is detected word by word. */
export function mergeLine(row: readonly RecognizedRegion[]): RecognizedRegion[] {
  const lines: RecognizedRegion[] = [];
  for (const current of row) {
    const previous = lines.at(-1);
    if (previous && isNextWord(previous.region, current.region)) {
      lines[lines.length - 1] = mergeRegions(previous, current);
    } else lines.push(current);
  }
  return lines;
}

function isNextWord(a: TextRegion, b: TextRegion): boolean {
  const [low, high] = [a.bottom - a.top, b.bottom - b.top].toSorted((x, y) => x - y);
  if (low === undefined || high === undefined || high > low * 1.6) return false;
  return b.left - a.right < low * SPACE_WIDTH;
}

function mergeRegions(a: RecognizedRegion, b: RecognizedRegion): RecognizedRegion {
  const [lengthA, lengthB] = [a.text.length, b.text.length];
  return {
    text: `${a.text} ${b.text}`,
    score: (a.score * lengthA + b.score * lengthB) / (lengthA + lengthB),
    region: {
      left: Math.min(a.region.left, b.region.left),
      top: Math.min(a.region.top, b.region.top),
      right: Math.max(a.region.right, b.region.right),
      bottom: Math.max(a.region.bottom, b.region.bottom),
    },
  };
}

function middleY({ top, bottom }: TextRegion): number {
  return (top + bottom) / 2;
}
