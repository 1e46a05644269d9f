import { displayWidth, fitToWidth } from "./display-width.ts";
import { sanitizeLine } from "./sanitize.ts";

export interface Column {
  title: string;
  align?: "left" | "right";
  /** Smallest width that this column may be cut to; without it, the column is never cut. */
  minWidth?: number;
  /** Adds colours or links to a cell, without changing its width. */
  decorate?: (cell: string, row: number) => string;
}

const GAP = "  ";

/**
 * Formats rows as a table at most `width` columns wide. The widest column that may be cut is cut
 * first. The first line is the header.
 */
export function formatTable(columns: Column[], rows: string[][], width: number): string[] {
  const lines = [columns.map(({ title }) => title), ...rows].map((row) => row.map(sanitizeLine));
  const natural = columns.map((_, i) =>
    Math.max(...lines.map((line) => displayWidth(line[i] ?? ""))),
  );
  const widths = fitColumns(columns, natural, width - GAP.length * (columns.length - 1));
  return lines.map((line, row) =>
    columns
      .map(({ align, decorate }, i) => {
        const cell = fitToWidth(line[i] ?? "", widths[i]!, align);
        return decorate && row > 0 ? decorate(cell, row - 1) : cell;
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** Narrows the widest of the columns that may be cut until all fit, or none can be cut further. */
function fitColumns(columns: Column[], natural: number[], available: number): number[] {
  const widths = [...natural];
  const sum = () => widths.reduce((total, width) => total + width, 0);
  while (sum() > available) {
    let widest = -1;
    for (const [i, { minWidth }] of columns.entries()) {
      const canShrink = minWidth !== undefined && widths[i]! > minWidth;
      if (canShrink && (widest < 0 || widths[i]! > widths[widest]!)) widest = i;
    }
    if (widest < 0) break;
    widths[widest]! -= 1;
  }
  return widths;
}
