export const CSV = "text/csv";

type Cell = string | number | boolean | null;

/** Streams rows as CSV (RFC 4180) with a header, as fast as the client reads. */
export function toCsv(columns: readonly string[], rows: AsyncGenerator<Cell[]>): Response {
  const encoder = new TextEncoder();
  const formatRow = (row: readonly Cell[]) =>
    encoder.encode(`${row.map(formatCell).join(",")}\r\n`);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(formatRow(columns));
    },
    async pull(controller) {
      const { value, done } = await rows.next();
      if (done) controller.close();
      else controller.enqueue(formatRow(value));
    },
    async cancel() {
      await rows.return(undefined);
    },
  });
  return new Response(body, { headers: { "Content-Type": `${CSV}; charset=utf-8` } });
}

/** Characters that begin a formula, after blanks and quotes, in a cell or behind a separator. */
const FORMULA = /(^|[;\t\n])(?=(?:[^\S\t\n]|["'])*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20])/g;

/**
 * Formats a cell, without control characters. Text that a spreadsheet would run as a formula gets
 * an apostrophe in front, also behind a semicolon, tab or line break, which may be its separator.
 */
function formatCell(value: Cell): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = value.replaceAll(/(?![\n\t]|\r\n)\p{Cc}/gu, "").replaceAll(FORMULA, "$1'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
