import { decodeHTMLAttribute, decodeHTML } from "entities";

/** A tag of XML or HTML. `name` is in lower case and without a prefix, as are attributes. */
export interface MarkupTag {
  kind: "open" | "close";
  name: string;
  attributes: Map<string, string>;
  isEmpty: boolean;
  /** Position in the text. */
  at: number;
}

export type MarkupToken = MarkupTag | { kind: "text"; text: string };

const ATTRIBUTE =
  /([^\s=<>"'/]{1,100})\s{0,99}=\s{0,99}(?:"([^"]*)"|'([^']*)'|([^\s"'>]{1,2000}))/g;
const MAX_TAG = 10_000;

/**
 * Splits XML, or HTML as careless as that of SAMI, into tags and text. Skips comments,
 * declarations and instructions. Entities are decoded.
 */
export function* tokenizeMarkup(text: string): Generator<MarkupToken> {
  for (let at = 0; at < text.length;) {
    const start = text.indexOf("<", at);
    if (start !== at) {
      const end = start < 0 ? text.length : start;
      yield { kind: "text", text: decodeHTML(text.slice(at, end)) };
      if (start < 0) return;
    }
    const [opening, closing] = SKIPPED.find(([begin]) => text.startsWith(begin, start)) ?? [
      "<",
      ">",
    ];
    const end = text.indexOf(closing, start + opening.length);
    if (end < 0) return;
    at = end + closing.length;
    if (opening === "<![CDATA[") yield { kind: "text", text: text.slice(start + 9, end) };
    else if (opening === "<") {
      const tag = end - start <= MAX_TAG ? parseTag(text.slice(start + 1, end), start) : null;
      if (tag) yield tag;
    }
  }
}

const SKIPPED = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
] as const;

function parseTag(source: string, at: number): MarkupTag | null {
  const [, slash, fullName] = /^(\/?)\s{0,9}([^\s/>]{1,100})/.exec(source) ?? [];
  if (fullName === undefined) return null;
  const attributes = new Map<string, string>();
  for (const [, key, double, single, bare] of source.matchAll(ATTRIBUTE)) {
    attributes.set(localName(key!), decodeHTMLAttribute(double ?? single ?? bare ?? ""));
  }
  const kind = slash ? "close" : "open";
  return { kind, name: localName(fullName), attributes, isEmpty: source.endsWith("/"), at };
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1).toLowerCase();
}
