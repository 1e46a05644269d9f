import { decodeHTMLStrict } from "entities";

/*
 * Text of cues without what formats it. Every pattern has a bounded or a negated class, so that a
 * hostile text takes linear time.
 */

/** Tags of HTML and WebVTT that players know, and times inside a cue. Any other `<` is text. */
const KNOWN_TAG =
  /<\/?(?:[bipusvc]|em|strong|font|span|div|ruby|rt|rp|lang)(?:[\s.][^<>]{0,500})?>|<br\s{0,9}\/?>|<\d{1,3}:\d{2}[\d:.,]{0,12}>/gi;
const VTT_TAG = /<rt[^<>]*>[^<]*<\/rt>|<[^<>]*>/g;
/** A block of override codes of SSA that begins with one that renderers know. */
const OVERRIDES =
  /\{\s{0,9}\\(?:an?\d|[bius]\d{0,3}[\\}]|[bius]\s{0,9}\}|[xy]?(?:bord|shad)|blur|be\d|k[fot]?\d|r[^{}\\]{0,99}[\\}]|q\d|p\d|pbo|fe\d|[1-4]?[ac]&|c[\\}]|f[ns]|fsc|fa[xy]|fr|fade?\(|t\(|org\(|pos\(|move\(|i?clip\()[^{}]{0,2000}\}|\{\\[ibusr]\d?\}/gi;
const ANY_BLOCK = /\{[^{}]*\}/g;
/** A path of Windows, which is left alone, or a code for a line break or a hard space. */
const ESCAPE = /\b[a-z]:\\\S*|\\[nh]/gi;

/** Removes tags that players know, override codes and drawings; decodes entities and escapes. */
export function cleanSrtText(text: string): string {
  const plain = removeOverrides(text, OVERRIDES).replaceAll(KNOWN_TAG, tagText);
  return decodeHTMLStrict(decodeEscapes(plain));
}

/** Removes every tag, ruby annotations and override codes, and decodes entities. */
export function cleanVttText(text: string): string {
  return decodeHTMLStrict(removeOverrides(text, OVERRIDES).replaceAll(VTT_TAG, ""));
}

/** Removes all override codes and drawings, and decodes escapes. */
export function cleanAssText(text: string): string {
  return decodeEscapes(removeOverrides(text, ANY_BLOCK));
}

function tagText(tag: string): string {
  return /^<br/i.test(tag) ? "\n" : "";
}

/** Removes blocks of codes, and the drawings between `\p1` and `\p0`. */
function removeOverrides(text: string, pattern: RegExp): string {
  if (!text.includes("{")) return text;
  let [result, from, isDrawing] = ["", 0, false];
  for (const match of text.matchAll(pattern)) {
    if (!isDrawing) result += text.slice(from, match.index);
    from = match.index + match[0].length;
    const level = [...match[0].matchAll(/\\p(\d)/g)].at(-1)?.[1];
    if (level !== undefined) isDrawing = level !== "0";
  }
  return isDrawing ? result : result + text.slice(from);
}

function decodeEscapes(text: string): string {
  return text.replaceAll(ESCAPE, (code) => {
    if (code.length > 2) return code;
    return code === "\\h" ? "\u00A0" : "\n";
  });
}
