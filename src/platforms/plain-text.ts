import { decodeHTML } from "entities";

/** More than the longest description that is kept, with its markup. */
const MAX_CHARACTERS = 100_000;

/** Converts HTML to text, with one line for each paragraph. Reads the first `MAX_CHARACTERS`. */
export function htmlToText(html: string): string {
  return decodeHTML(removeTags(html.slice(0, MAX_CHARACTERS)))
    .replaceAll("\u00A0", " ")
    .trim();
}

const BREAK = /^<(?:br\s{0,9}\/?|\/p)>$/i;

/** Removes tags. Those of line breaks and ends of paragraphs become line breaks. */
function removeTags(html: string): string {
  let text = "";
  let from = 0;
  for (let start = html.indexOf("<"); start >= 0; start = html.indexOf("<", from)) {
    const end = html.indexOf(">", start);
    if (end < 0) break;
    text += html.slice(from, start);
    from = end + 1;
    if (BREAK.test(html.slice(start, Math.min(from, start + 20)))) text += "\n";
  }
  return text + html.slice(from);
}

/** Decodes percent encoding. Returns the text unchanged if the encoding is malformed. */
export function decodeUrlPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
