import { decodeHTMLStrict } from "entities";
import { toVisibleText } from "../clean-text.ts";
import { trimEndOf } from "../trim-end.ts";

// bounded in this file: a reply of at most ANSWER.maxCharacters, measured with hostile texts

const WITHIN = String.raw`(?:[^[\]]|\[[^[\]]*\])*`;
const DESTINATION = String.raw`\(\s*(?:<[^<>\n]*>|[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`;
const LINK = new RegExp(String.raw`\\?(!?)\[(${WITHIN})\]${DESTINATION}`, "g");
const REFERENCE = /\\?(!?)\[([^[\]]+)\]\[([^[\]]*)\]/g;
const BEFORE_BLOCK = String.raw`(?:[^\S\n]|[>*+-]|\d{1,9}[.)])*`;
const DEFINITION = new RegExp(
  String.raw`^${BEFORE_BLOCK}\[(?:\\.|[^\]\\])*\]:[^\S\n]*\n?[^\S\n]*(?:<[^<>\n]*>|\S+)[^\S\n]*(?:["'(][^\n]*)?$`,
  "gm",
);
const LABEL_TEXT = String.raw`(?:\\.|[^[\]\\\n])*`;
const MAY_DEFINE = new RegExp(
  String.raw`^(${BEFORE_BLOCK}\[${LABEL_TEXT}\]|${LABEL_TEXT}\]):`,
  "gm",
);
/** Links within links that are taken apart. Beyond, all that may be markup becomes spaces. */
const MAX_PASSES = 20;
const AUTOLINK = /\\?<([a-z][a-z\d+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>/gi;
const TAG = /\\?(?:<!--[\s\S]*?-->|<[a-z/!?][^<>]*>)/gi;
const SCHEME =
  /(?:https?|ftps?|wss?|file):\/\/|\b(?:www\.|mailto:|xmpp:)|(?<![\p{L}\p{N}:/])\/\/(?=[\p{L}\p{N}])/giu;
const NUMBER = /^\\?\[?\^?(\d{1,3})\\?\]?$/;

/**
 * Sanitises Markdown so that a renderer loads nothing and makes no links: removes images, tags,
 * comments and link definitions, replaces links by their text, and shortens URLs to what CommonMark
 * and GFM don't autolink (`https://a.example/b` → `a.example/b`; e-mail addresses stay). Keeps
 * citation markers, also linked ones: `[1](url)` → `[1]`.
 *
 * A space breaks what would remain as a tag, a link or an image. That includes code, so the result
 * is safe wherever a renderer thinks that code begins. Sentences and lines can be sanitised
 * separately: joined by white space, they are still safe.
 */
export function toSafeMarkdown(markdown: string): string {
  let [text, before] = [toVisibleText(markdown), ""];
  for (let passes = 0; text !== before; passes++) {
    if (passes === MAX_PASSES) return text.replaceAll(/[[\]()<>!:/@]/g, " ");
    before = text;
    text = text
      .replaceAll(AUTOLINK, "$1")
      .replaceAll(TAG, "")
      .replaceAll(LINK, (_, bang: string, text: string) => linkText(bang, text))
      .replaceAll(REFERENCE, (whole, bang: string, text: string, label: string) =>
        NUMBER.test(text) || NUMBER.test(label) ? whole : linkText(bang, text),
      )
      .replaceAll(DEFINITION, "")
      .replaceAll(SCHEME, "");
  }
  return text
    .replaceAll(/<(?=[a-z/!?])/gi, "< ")
    .replaceAll(/!(?=\[)/g, "! ")
    .replaceAll(/\](?=\()/g, "] ")
    .replaceAll(MAY_DEFINE, "$1 :");
}

/** Returns the text that replaces a link; empty for an image, whose syntax starts with a `bang`. */
function linkText(bang: string, text: string): string {
  const number = NUMBER.exec(text)?.[1];
  if (number !== undefined) return `${bang}[${number}]`;
  return bang ? "" : text;
}

const CODE_OR_MARKER = /(?<![\\`])(`+)(?!`)[^]*?[^`]\1(?!`)|(?<!\\)\[(\d{1,3})\](?!\]?\()/g;

/**
 * Links the markers of sanitised Markdown: `[1]` → `[[1]](url)`, rendered as `[1]`. `urlOf` returns
 * the URL, which is escaped, or null to leave the marker as it is. Markers in code and escaped ones
 * (`\[1]`) aren't linked.
 */
export function linkMarkers(markdown: string, urlOf: (marker: number) => string | null): string {
  return markdown.replaceAll(CODE_OR_MARKER, (whole: string, _, marker?: string) => {
    const url = marker === undefined ? null : urlOf(Number(marker));
    return url === null ? whole : `[[${marker}]](${escapeUrl(url)})`;
  });
}

/**
 * Percent-encodes all characters that could end a link destination, or have a meaning in Markdown.
 */
function escapeUrl(url: string): string {
  return url.replaceAll(/[^\w.~:/?#@&+,=%-]/gu, (character) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join(""),
  );
}

/** Escapes plain text, so that nothing in it is markup, a link or a citation marker. */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/[\\`*_[\]<>|~&#!]/g, String.raw`\$&`)
    .replaceAll(
      /(?<=https?|ftp):(?=\/\/)|(?<=www)\.|(?<=mailto|xmpp):|(?<!:)\/(?=\/)/gi,
      String.raw`\$&`,
    )
    .replaceAll(
      /^([^\S\n\r\u2028\u2029]*)([-+=]|\d{1,9}(?=[.)]))/gm,
      (_, space: string, start: string) =>
        /\d/.test(start) ? `${space}${start}\\` : `${space}\\${start}`,
    );
}

const CODE_SPAN = /(?<![`\\])(`+)(?!`)(.*?[^`])\1(?!`)/g;
/** An escaped character, a character reference, or a mark of emphasis or code, closed or not. */
const INLINE_MARKS = new RegExp(
  [
    String.raw`\\([!-/:-@[-\x60{-~])`,
    String.raw`&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]+);`,
    String.raw`~~|\x60|\*{2,}`,
    String.raw`(?<=^|[\s\p{P}])\*(?=\S)|(?<=\S)\*(?=$|[\s\p{P}])`,
    String.raw`(?<![\p{L}\p{N}])_+(?=\S)|(?<=\S)_+(?![\p{L}\p{N}])`,
  ].join("|"),
  "giu",
);

/**
 * Converts Markdown to plain text, line by line. Removes what `toSafeMarkdown` removes, and the
 * markup of headings, lists, quotations, tables (cells are joined by commas), emphasis and code,
 * closed or not. Keeps numbers of lists and citation markers. Decodes character references.
 *
 * Lines and sentences can be converted separately: a text that starts with a space continues a
 * line.
 */
export function toPlainText(markdown: string): string {
  return toSafeMarkdown(markdown)
    .split("\n")
    .map((line, i) =>
      convertInline(i === 0 && line.startsWith(" ") ? line : removeBlockMarks(line)),
    )
    .join("\n")
    .replaceAll(/<(?=[a-z/!?])/gi, "< ");
}

function removeBlockMarks(line: string): string {
  const text = line
    .replace(/^[\s>]+/, "")
    .replace(/^#{1,6}(?:\s.*|$)/s, (title) => trimEndOf(title.replace(/^#+\s*/, ""), /[\s#]/))
    .replace(/^[-*+•](?:\s+|$)/, "");
  if (!/^\|.*\|\s*$/.test(text)) return text;
  const cells = text.replaceAll(/^\||\|\s*$/g, "").split(/(?<!\\)\|/);
  return cells
    .map((cell) => cell.trim())
    .filter(Boolean)
    .join(", ");
}

function convertInline(line: string): string {
  let text = "";
  let from = 0;
  for (const match of line.matchAll(CODE_SPAN)) {
    text += removeInlineMarks(line.slice(from, match.index)) + (match[2] ?? "").trim();
    from = match.index + match[0].length;
  }
  return text + removeInlineMarks(line.slice(from));
}

function removeInlineMarks(text: string): string {
  return text.replaceAll(INLINE_MARKS, (mark: string, escaped?: string) => {
    return escaped ?? (mark.startsWith("&") ? toVisibleText(decodeHTMLStrict(mark)) : "");
  });
}
