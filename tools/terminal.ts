/** Puts untrusted text on one line and removes control characters. */
export function sanitizeLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
}

/** Removes what a terminal would obey from text of several lines. */
export function sanitizeText(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060-\u2064\uFEFF\u{E0000}-\u{E007F}]/gu,
    "",
  );
}

/** Truncates text to `width` characters. */
export function truncate(text: string, width: number): string {
  const letters = Array.from(text);
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Truncates text to `width` characters and leaves its beginning and its end. */
export function truncateMiddle(text: string, width: number): string {
  const letters = Array.from(text);
  if (letters.length <= width) return text;
  const head = Math.floor((width - 1) / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(head + 1 - width).join("")}`;
}

const WRAP_WIDTH = 80;

/** Breaks text at spaces into lines of at most 80 columns. */
export function wrapText(text: string, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const part of text.split(/(?<=[^ ])(?= )/)) {
    if (line === "" || line.length + part.length <= WRAP_WIDTH) line += part;
    else {
      lines.push(line);
      line = indent + part.trimStart();
    }
  }
  return [...lines, line].join("\n");
}

/** Formats seconds as `m:ss` or `h:mm:ss`. */
export function formatClock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [first, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":");
}

export interface Column {
  title: string;
  /** Width in characters; longer text is truncated. */
  width: number;
  align?: "right";
}

/** Formats one line of a table. */
export function formatRow(columns: Column[], cells: string[]): string {
  const fitted = columns.map(({ width, align }, i) => {
    const text = truncate(sanitizeLine(cells[i] ?? ""), width);
    return align === "right" ? text.padStart(width) : text.padEnd(width);
  });
  return `  ${fitted.join("  ")}`.trimEnd();
}
