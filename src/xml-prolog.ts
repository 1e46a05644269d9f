/** Parts of XML before the first element: how each begins and ends. */
const PROLOG = [
  ["<?", "?>"],
  ["<!--", "-->"],
  ["<!", ">"],
] as const;

/**
 * Returns what follows the byte-order mark, blanks, instructions, comments and declarations at the
 * beginning of XML; "" if one of them isn't closed. Takes linear time.
 */
export function skipXmlProlog(text: string): string {
  for (let at = 0; ;) {
    while (at < text.length && text[at]!.trim() === "") at++;
    const part = PROLOG.find(([opening]) => text.startsWith(opening, at));
    if (part === undefined) return text.slice(at);
    // `<!-->` is a comment, too: its end may overlap its beginning.
    const end = text.indexOf(part[1], at + 2);
    if (end < 0) return "";
    at = end + part[1].length;
  }
}
