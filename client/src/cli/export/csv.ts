import type { Hit, Segment } from "../../index.ts";
import { sanitizeText } from "../sanitize.ts";

/** A segment that an export lists: a hit, or a segment named by its id. */
export type ExportedSegment = Segment & Partial<Pick<Hit, "rank" | "score" | "evidence">>;

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

/** Characters that begin a formula, after blanks and quotes, in a cell or behind a separator. */
const FORMULA = /(^|[;\t\n])(?=(?:[^\S\t\n]|["'])*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20])/g;

/**
 * Formats untrusted text as a field, without control characters. What a spreadsheet would run as a
 * formula gets an apostrophe in front, also behind a semicolon, tab or line break, which may be the
 * separator. Quotes the field where any of them would split it.
 */
function formatField(text: string): string {
  const plain = sanitizeText(text);
  const safe = plain === "" || !Number.isNaN(Number(plain)) ? plain : plain.replace(FORMULA, "$1'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
