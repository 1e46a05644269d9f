/**
 * Makes text of strangers text to show: without control characters, lone surrogates, extra spaces
 * and empty lines. Line breaks stay.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => line.replaceAll(/[\s\p{Cc}]+/gu, " ").trim())
    .filter(Boolean)
    .join("\n");
}
