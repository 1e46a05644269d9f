import type { NewJudgment } from "../index.ts";
import { UsageError } from "./command-arguments.ts";

const COLUMNS = ["query", "search_id", "segment_id", "relevant"] as const;

const RELEVANT: Readonly<Record<string, boolean | null>> = {
  true: true,
  yes: true,
  "1": true,
  false: false,
  no: false,
  "0": false,
  "": null,
};

/**
 * Parses judgments from CSV (RFC 4180) whose header names their columns; others are ignored. Throws
 * a `UsageError` that names the row.
 */
export function parseJudgments(text: string): NewJudgment[] {
  const [header = [], ...rows] = parseCsv(text);
  const positions = COLUMNS.map((name) => header.findIndex((cell) => cell.trim() === name));
  const [query, search, segment, relevant] = positions as [number, number, number, number];
  if (segment < 0 || relevant < 0 || (query < 0 && search < 0)) {
    throw new UsageError("The first row must name query or search_id, segment_id and relevant.");
  }
  return rows.map((row, i) => {
    const cellOf = (position: number) => withoutApostrophe(row[position] ?? "").trim();
    const isRelevant = RELEVANT[cellOf(relevant).toLowerCase()];
    if (isRelevant === undefined) {
      throw new UsageError(`Row ${i + 2}: relevant is true, false or empty.`);
    }
    const searchId = cellOf(search);
    const judgment = { segment_id: cellOf(segment), relevant: isRelevant };
    if (searchId === "") return Object.assign(judgment, { query: cellOf(query) });
    return Object.assign(judgment, { search_id: searchId });
  });
}

/** Removes the apostrophe that keeps a spreadsheet from reading text as a formula. */
function withoutApostrophe(cell: string): string {
  return cell.replace(/^'(?=\s*["']*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20])/, "");
}

/** A cell, quoted or not, and the comma or the line break behind it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\r|\n|$)/y;

/** Splits CSV into rows of cells, without empty rows. Throws a `UsageError` for a stray quote. */
function parseCsv(text: string): string[][] {
  const body = text.replace(/^\uFEFF/, "");
  const rows: string[][] = [[]];
  CELL.lastIndex = 0;
  while (CELL.lastIndex < body.length) {
    const match = CELL.exec(body);
    if (!match) throw new UsageError(`Row ${rows.length}: a quotation mark is in the wrong place.`);
    const [, quoted, plain, end] = match;
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end !== "," && end !== "") rows.push([]);
  }
  return rows.filter((row) => row.some((cell) => cell !== ""));
}
