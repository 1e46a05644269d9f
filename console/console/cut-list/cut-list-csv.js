import { lengthOf } from "./cut-list.js";

const COLUMNS = ["position", "title", "type", "start_seconds", "end_seconds", "length_seconds"];

/** Formats a list as CSV (RFC 4180), with a byte order mark, by which Excel knows UTF-8. */
export function formatCsv(list) {
  const rows = list.map((moment, i) => {
    const { title, asset_type: type, start_seconds: start, end_seconds: end } = moment;
    const length = start === null ? null : Number(lengthOf(moment).toFixed(3));
    return [i + 1, title, type, start, end, length, moment.asset_id, moment.segment_id];
  });
  const lines = [[...COLUMNS, "asset_id", "segment_id"], ...rows].map((row) =>
    row.map(csvCell).join(","),
  );
  return `\uFEFF${lines.join("\r\n")}\r\n`;
}

/** Characters that begin a formula, after blanks and quotes, in a cell or behind a separator. */
const FORMULA = /(^|[;\t\n])(?=(?:[^\S\t\n]|["'])*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20])/g;

/**
 * Formats text as a cell, without control characters. What a spreadsheet would run as a formula gets
 * an apostrophe in front, also behind a semicolon, tab or line break, which may be its separator.
 */
function csvCell(value) {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = value
    .replace(/(?![\n\t]|\r\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "")
    .replace(FORMULA, "$1'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
