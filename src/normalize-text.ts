/** Marks that follow one another: no language writes as many (UAX #15, section 13). */
const MAX_MARKS = 30;
const EXCESS_MARKS = new RegExp(String.raw`(\p{M}{${MAX_MARKS}})\p{M}+`, "gu");

/**
 * Normalises a text (UAX #15). Of a run of marks the first `MAX_MARKS` stay: sorting a run takes
 * the square of its length.
 */
export function normalizeText(text: string, form: "NFC" | "NFKC" | "NFKD"): string {
  return text.replaceAll(EXCESS_MARKS, "$1").normalize(form);
}
