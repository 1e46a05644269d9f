import * as z from "zod";

/** The flags of England, Scotland and Wales: emoji that are spelled with tag characters. */
const FLAG =
  "\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}";
/** Joiners and variation selectors, of which scripts and emoji need one after a character. */
const JOINERS = "\\u200C\\u200D";
const SELECTORS = "\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}";
/** Characters that are ignorable, but that scripts need: of Mongolian, and old Hangul. */
const OF_SCRIPTS = "\\u180B-\\u180F\\u115F\\u1160";
/**
 * Characters that don't show: zero-width, tag and filler characters, and controls of direction.
 * Text that people don't see may tell a model what to do, or show a name as another.
 */
const INVISIBLE = new RegExp(
  [
    `(${FLAG})`,
    `(?<=[${JOINERS}${SELECTORS}])[${SELECTORS}]`,
    `(?<=[${JOINERS}])[${JOINERS}]`,
    `(?![${JOINERS}${SELECTORS}${OF_SCRIPTS}])\\p{Default_Ignorable_Code_Point}`,
    "[\\u061C\\uFFF9-\\uFFFB]",
  ].join("|"),
  "gu",
);
/** What Unicode calls an end of a line. Python's `splitlines` has three more controls. */
const LINE_ENDS = /\r\n|[\r\v\f\x85\u2028\u2029]/g;
/** What JSON doesn't escape. */
const JSON_LINE_ENDS = /[\x7F-\x9F\u2028\u2029]/g;

/**
 * Makes text of strangers text to show: without invisible characters, lone surrogates and control
 * characters. Lines end with "\n"; spaces and tabs stay.
 */
export function toVisibleText(text: string): string {
  return removeInvisible(text)
    .replaceAll(LINE_ENDS, "\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, " ");
}

/** Makes text of strangers one line to show. */
export function toOneLine(text: string): string {
  return removeInvisible(text)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
}

function removeInvisible(text: string): string {
  return text.toWellFormed().replaceAll(INVISIBLE, "$1");
}

/** Makes text of strangers lines to show, without extra spaces and empty lines. */
export function cleanText(text: string): string {
  return toVisibleText(text)
    .split("\n")
    .map((line) => line.replaceAll(/\s+/g, " ").trim())
    .filter(Boolean)
    .join("\n");
}

/**
 * Schema of a text that is shown as one line, such as a name. `minCharacters` counts what was sent:
 * the line may be empty.
 */
export function lineOfText(maxCharacters: number, minCharacters?: number) {
  const text = minCharacters === undefined ? z.string() : z.string().min(minCharacters);
  return text.max(maxCharacters).overwrite(toOneLine);
}

/** Schema of a text that is shown with its lines. It may be empty. */
export function linesOfText(maxCharacters: number) {
  return z.string().max(maxCharacters).overwrite(toVisibleText);
}

/** Formats a value as JSON that is one line for every reader. */
export function toJsonLine(value: unknown): string {
  const escape = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replaceAll(JSON_LINE_ENDS, escape);
}
