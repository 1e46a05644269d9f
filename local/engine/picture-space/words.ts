/** The different words of an English text in lower case. */
export function readWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? [])];
}
