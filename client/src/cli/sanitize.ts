/** Direction overrides, isolates and marks: they would reorder the rest of the line. */
const DIRECTION_CONTROLS = "\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069";
const DIRECTION = new RegExp(`[${DIRECTION_CONTROLS}]`, "g");
/** Characters that JSON leaves as they are, but that terminals obey or that break lines. */
const JSON_CONTROLS = new RegExp(`[\\u007F-\\u009F\\u2028\\u2029${DIRECTION_CONTROLS}]`, "g");

/** Puts untrusted text on one line, without control characters and direction controls. */
export function sanitizeLine(text: string): string {
  return text
    .replace(DIRECTION, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}

/** Removes control characters but line breaks and tabs, and direction controls. */
export function sanitizeText(text: string): string {
  return text.replace(DIRECTION, "").replace(/(?![\n\t]|\r\n)\p{Cc}/gu, "");
}

/** Formats JSON whose strings have their control characters escaped. */
export function formatJson(value: unknown, indent?: number): string {
  const escape = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(JSON_CONTROLS, escape);
}

/**
 * Makes a file name of untrusted text: one that is valid on every system and stays in its folder.
 * Empty if nothing remains.
 */
export function toFileName(text: string): string {
  return sanitizeLine(text)
    .replaceAll(/[/\\:*?"<>|]/g, "-")
    .replace(/^[.\s-]+/, "")
    .replace(/[.\s]+$/, "")
    .replace(/^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i, "_$1");
}
