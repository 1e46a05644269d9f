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
/** Line breaks that `^` and `$` know beside "\n". */
const LINE_BREAK = /\r\n?|[\u2028\u2029]/g;
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
  let [text, before] = [markdown.replaceAll(LINE_BREAK, "\n"), ""];
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

const CODE = String.raw`(?:^|(?<=\n))[^\S\n]*(\x60{3,}|~{3,})[^]*?(?:\n[^\S\n]*\1[^\n]*|$)|(?<![\\\x60])(\x60+)(?!\x60)[^]*?[^\x60]\2(?!\x60)`;
const CODE_OR_MARKER = new RegExp(String.raw`${CODE}|(?<!\\)\[(\d{1,3})\](?!\]?\()`, "g");

/**
 * Links the markers of sanitised Markdown: `[1]` → `[[1]](url)`, rendered as `[1]`. `urlOf` returns
 * the URL, which is escaped, or null to leave the marker as it is. Markers in code and escaped ones
 * (`\[1]`) aren't linked. A code fence must be complete in the text.
 */
export function linkMarkers(markdown: string, urlOf: (marker: number) => string | null): string {
  return markdown.replaceAll(CODE_OR_MARKER, (whole: string, ...groups: (string | undefined)[]) => {
    const url = groups[2] === undefined ? null : urlOf(Number(groups[2]));
    return url === null ? whole : `[[${groups[2]}]](${escapeUrl(url)})`;
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
    .replaceAll(/^(\s*)([-+=]|\d+(?=[.)]))/gm, (_, space: string, start: string) =>
      /\d/.test(start) ? `${space}${start}\\` : `${space}\\${start}`,
    );
}

const CODE_SPAN = /(?<![`\\])(`+)(?!`)(.*?[^`])\1(?!`)/g;
const RULE = /^\s*(?:(?:[-*_]\s*){3,}|=+\s*)$/;
const BORDER = /^(?=[^-]*-)[>\s|:-]*$/;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  gt: ">",
  hellip: "…",
  lt: "<",
  mdash: "—",
  nbsp: " ",
  ndash: "–",
  quot: '"',
};

/** Offset into the Private Use Area, where escaped characters are kept while markup is parsed. */
const PRIVATE_USE = 0xe000;

/**
 * Converts Markdown to plain text, line by line. Removes what `toSafeMarkdown` removes, and the
 * markup of headings, lists, quotations, tables (cells are joined by commas), emphasis and code,
 * closed or not. Keeps numbers of lists and citation markers. Decodes entities.
 *
 * Lines and sentences can be converted separately: a text that starts with a space continues a
 * line. Only code fences, whose content is kept, must be complete in the text.
 */
export function toPlainText(markdown: string): string {
  const plain: string[] = [];
  let fence = "";
  const safe = toSafeMarkdown(markdown.replaceAll(/[\u{E021}-\u{E07E}]/gu, ""));
  for (const [i, line] of safe.split("\n").entries()) {
    const mark = /^[>\s]*(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence === "" ? mark !== "" : mark.startsWith(fence)) fence = fence === "" ? mark : "";
    else if (fence !== "") plain.push(line);
    else if (i === 0 && line.startsWith(" ")) plain.push(convertInline(line));
    else if (!RULE.test(line) && !BORDER.test(line))
      plain.push(convertInline(removeBlockMarks(line)));
  }
  return plain
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .replaceAll(/<(?=[a-z/!?])/gi, "< ");
}

function removeBlockMarks(line: string): string {
  const text = line
    .replace(/^[\s>]+/, "")
    .replace(/^#{1,6}(?:\s+|$)(.*?)[\s#]*$/, "$1")
    .replace(/^[-*+•](?:\s+|$)(?:\[[ xX]\]\s+)?/, "");
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
  return text
    .replaceAll(/\\([!-/:-@[-`{-~])/g, (_, mark: string) =>
      String.fromCharCode(PRIVATE_USE + mark.charCodeAt(0)),
    )
    .replaceAll(/~~|`/g, "")
    .replaceAll(/\*{2,}|(?<![\p{L}\p{N}])__+|__+(?![\p{L}\p{N}])/gu, "")
    .replaceAll(/\*(?=\S)([^*]*?)(?<=\S)\*/g, "$1")
    .replaceAll(/(?<=^|[\s\p{P}])\*(?=\S)|(?<=\S)\*(?=$|[\s\p{P}])/gu, "")
    .replaceAll(/(?<![\p{L}\p{N}])_(?=\S)(.*?)(?<=\S)_(?![\p{L}\p{N}])/gu, "$1")
    .replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, decodeEntity)
    .replaceAll(/[\u{E021}-\u{E07E}]/gu, (moved) =>
      String.fromCharCode(moved.charCodeAt(0) - PRIVATE_USE),
    );
}

function decodeEntity(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  const isCharacter = code >= 0x20 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : entity;
}
