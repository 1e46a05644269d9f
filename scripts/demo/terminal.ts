/** Text from files and services on one line, without what a terminal would obey. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
}

/** At most `width` characters. */
export function cut(text: string, width: number): string {
  const letters = Array.from(text);
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Seconds as `m:ss` or `h:mm:ss`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [first, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":");
}

export interface Column {
  title: string;
  /** Longer texts are cut. */
  width: number;
  align?: "right";
}

/** One line of a table. */
export function formatRow(columns: Column[], cells: string[]): string {
  const fitted = columns.map(({ width, align }, i) => {
    const text = cut(plain(cells[i] ?? ""), width);
    return align === "right" ? text.padStart(width) : text.padEnd(width);
  });
  return `  ${fitted.join("  ")}`.trimEnd();
}
