import type { ExportedSegment } from "./clip.ts";

const COLUMNS = [
  "rank",
  "score",
  "segment_id",
  "asset_id",
  "asset_type",
  "title",
  "start_seconds",
  "end_seconds",
  "caption",
  "transcript",
  "on_screen_text",
  "labels",
] as const satisfies (keyof ExportedSegment)[];

/** Formats segments as CSV (RFC 4180) with a header. */
export function formatCsv(segments: readonly ExportedSegment[]): string {
  const rows = segments.map((segment) =>
    COLUMNS.map((column) => {
      const value = segment[column];
      return Array.isArray(value) ? value.join("; ") : String(value ?? "");
    }),
  );
  return [[...COLUMNS], ...rows].map((row) => `${row.map(formatField).join(",")}\r\n`).join("");
}

/**
 * Quotes a field where CSV needs it. Text that a spreadsheet would run as a formula gets an
 * apostrophe in front, because titles and transcripts are strangers' words.
 */
function formatField(text: string): string {
  const isFormula = /^[=+@\t\r]/.test(text) || (text.startsWith("-") && Number.isNaN(Number(text)));
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
