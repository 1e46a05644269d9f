/** A line of a text file, with its number from 1. */
export interface NumberedLine {
  number: number;
  text: string;
}

/** Splits a text into lines, whatever ends them. */
export function splitLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

export function numberLines(text: string): NumberedLine[] {
  return splitLines(text).map((line, i) => ({ number: i + 1, text: line }));
}
