/**
 * Characters that don't show, or that reorder the rest of the line: zero-width and tag characters,
 * direction overrides, isolates and marks. Joiners and variation selectors stay: emoji have them.
 */
const INVISIBLE =
  "(?![\\u200C\\u200D\\u180B-\\u180F\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}])\\p{Default_Ignorable_Code_Point}|[\\u061C\\uFFF9-\\uFFFB]";
const INVISIBLE_CHARACTERS = new RegExp(INVISIBLE, "gu");
/** Characters that JSON leaves as they are, but that terminals obey or that break lines. */
const JSON_CONTROLS = new RegExp(`[\\u007F-\\u009F\\u2028\\u2029]|${INVISIBLE}`, "gu");

/** Puts untrusted text on one line, without control and invisible characters. */
export function sanitizeLine(text: string): string {
  return text
    .replace(INVISIBLE_CHARACTERS, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}

/** Removes control characters but line breaks and tabs, and what is invisible. */
export function sanitizeText(text: string): string {
  return text
    .replace(INVISIBLE_CHARACTERS, "")
    .replace(/[\u2028\u2029]/g, " ")
    .replace(/(?![\n\t]|\r\n)\p{Cc}/gu, "");
}

/** Formats JSON whose strings have their control characters escaped. */
export function formatJson(value: unknown, indent?: number): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(JSON_CONTROLS, (character) =>
    character.split("").map(escapeUnit).join(""),
  );
}
