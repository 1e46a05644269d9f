const WITHIN = String.raw`(?:[^[\]]|\[[^[\]]*\])*`;
const DESTINATION = String.raw`\(\s*(?:<[^<>\n]*>|[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`;
const LINK = new RegExp(String.raw`\\?(!?)\[(${WITHIN})\]${DESTINATION}`, "g");
const REFERENCE = /\\?(!?)\[([^[\]]+)\]\[([^[\]]*)\]/g;
const BEFORE_BLOCK = String.raw`(?:[^\S\n]|[>*+-]|\d{1,9}[.)])*`;
const DEFINITION = new RegExp(
  String.raw`^${BEFORE_BLOCK}\[(?:\\.|[^\]\\])*\]:[^\S\n]*\n?[^\S\n]*(?:<[^<>\n]*>|\S+)[^\S\n]*(?:["'(][^\n]*)?$`,
  "gm",
);
const MAY_DEFINE = new RegExp(String.raw`^(${BEFORE_BLOCK}\[?(?:\\.|[^[\]\\\n])*\]):`, "gm");
const AUTOLINK = /\\?<([a-z][a-z\d+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>/gi;
const TAG = /\\?(?:<!--[\s\S]*?-->|<[a-z/!?][^<>]*>)/gi;
const SCHEME =
  /(?:https?|ftps?|wss?|file):\/\/|\b(?:www\.|mailto:|xmpp:)|(?<![\p{L}\p{N}:/])\/\/(?=[\p{L}\p{N}])/giu;
const NUMBER = /^\\?\[?\^?(\d{1,3})\\?\]?$/;

/**
 * Markdown from which nothing is fetched and in which nothing can be followed: no pictures, tags,
 * comments, definitions; of links their text; of addresses what CommonMark and GFM make no link of
 * (`https://a.example/b` → `a.example/b`; e-mail addresses stay). Markers stay, of links as well:
 * `[1](address)` → `[1]`.
 *
 * What would survive as a tag, a link or a picture is broken by a space: in code too, so that it
 * doesn't matter where a renderer thinks that code begins. Sentences and lines can be cleaned one by
 * one: what is put together of them by white space is as clean.
 */
export function toSafeMarkdown(markdown: string): string {
  let [text, before] = [markdown, ""];
  while (text !== before) {
    before = text;
    text = text
      .replaceAll(AUTOLINK, "$1")
      .replaceAll(TAG, "")
      .replaceAll(LINK, (_, picture: string, text: string) => textOfLink(picture, text))
      .replaceAll(REFERENCE, (whole, picture: string, text: string, label: string) =>
        NUMBER.test(text) || NUMBER.test(label) ? whole : textOfLink(picture, text),
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

function textOfLink(picture: string, text: string): string {
  const number = NUMBER.exec(text)?.[1];
  if (number !== undefined) return `${picture}[${number}]`;
  return picture ? "" : text;
}

const CODE = String.raw`(?:^|(?<=\n))[^\S\n]*(\x60{3,}|~{3,})[^]*?(?:\n[^\S\n]*\1[^\n]*|$)|(?<![\\\x60])(\x60+)(?!\x60)[^]*?[^\x60]\2(?!\x60)`;
const CODE_OR_MARKER = new RegExp(String.raw`${CODE}|(?<!\\)\[(\d{1,3})\](?!\]?\()`, "g");

/**
 * Makes links of the markers of clean Markdown: `[1]` → `[[1]](address)`, shown as `[1]`. `urlOf`
 * gives the address, which is escaped so that it ends where it should; null leaves the marker. Those in
 * code and escaped ones (`\[1]`) stay as they are; a code fence must be whole in the text.
 */
export function linkMarkers(markdown: string, urlOf: (marker: number) => string | null): string {
  return markdown.replaceAll(CODE_OR_MARKER, (whole: string, ...groups: (string | undefined)[]) => {
    const url = groups[2] === undefined ? null : urlOf(Number(groups[2]));
    return url === null ? whole : `[[${groups[2]}]](${escapeAddress(url)})`;
  });
}

/** In percents all that could end a destination, or mean something in Markdown. */
function escapeAddress(url: string): string {
  return url.replaceAll(/[^\w.~:/?#@&+,=%-]/gu, (character) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join(""),
  );
}

/** Text as Markdown that shows just that: nothing in it is markup, a link or a marker. */
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
const BORDER = /^[>\s]*\|?[\s|:-]*-[\s|:-]*$/;
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

/** Escaped characters are kept here, out of the way of what reads markup, until they are shown. */
const PARKED = 0xe000;

/**
 * The text of Markdown, line by line: no marks of headings, lists, quotations, tables (cells are joined
 * by commas), emphasis or code, closed or not, and nothing that `toSafeMarkdown` takes out. The numbers
 * of lists stay, and so do markers. Entities are decoded.
 *
 * Works on lines and sentences one by one: a text that starts with a space goes on within a line; only
 * code fences, in which all stays as it is, must be whole in the text.
 */
export function toPlain(markdown: string): string {
  const plain: string[] = [];
  let fence = "";
  const safe = toSafeMarkdown(markdown.replaceAll(/[\u{E021}-\u{E07E}]/gu, ""));
  for (const [i, line] of safe.split("\n").entries()) {
    const mark = /^[>\s]*(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence === "" ? mark !== "" : mark.startsWith(fence)) fence = fence === "" ? mark : "";
    else if (fence !== "") plain.push(line);
    else if (i === 0 && line.startsWith(" ")) plain.push(inline(line));
    else if (!RULE.test(line) && !BORDER.test(line)) plain.push(inline(textOfLine(line)));
  }
  return plain
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .replaceAll(/<(?=[a-z/!?])/gi, "< ");
}

function textOfLine(line: string): string {
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

function inline(line: string): string {
  let text = "";
  let from = 0;
  for (const match of line.matchAll(CODE_SPAN)) {
    text += withoutMarks(line.slice(from, match.index)) + (match[2] ?? "").trim();
    from = match.index + match[0].length;
  }
  return text + withoutMarks(line.slice(from));
}

function withoutMarks(text: string): string {
  return text
    .replaceAll(/\\([!-/:-@[-`{-~])/g, (_, mark: string) =>
      String.fromCharCode(PARKED + mark.charCodeAt(0)),
    )
    .replaceAll(/~~|`/g, "")
    .replaceAll(/\*{2,}|(?<![\p{L}\p{N}])__+|__+(?![\p{L}\p{N}])/gu, "")
    .replaceAll(/\*(?=\S)([^*]*?)(?<=\S)\*/g, "$1")
    .replaceAll(/(?<=^|[\s\p{P}])\*(?=\S)|(?<=\S)\*(?=$|[\s\p{P}])/gu, "")
    .replaceAll(/(?<![\p{L}\p{N}])_(?=\S)(.*?)(?<=\S)_(?![\p{L}\p{N}])/gu, "$1")
    .replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, decode)
    .replaceAll(/[\u{E021}-\u{E07E}]/gu, (parked) =>
      String.fromCharCode(parked.charCodeAt(0) - PARKED),
    );
}

function decode(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  const isCharacter = code >= 0x20 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : entity;
}
