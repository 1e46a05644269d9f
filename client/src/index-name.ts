/** Most characters of an index's name. */
const MAX_CHARACTERS = 64;
/** Letters that German writes with two, where it has no others. */
const GERMAN: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ß: "ss" };

/**
 * Makes a name that an index may have of any text: "Familienarchiv Köln 2022" becomes
 * "Familienarchiv-Koeln-2022". A text without Latin letters and digits becomes "index".
 */
export function toIndexName(text: string): string {
  const latin = text
    .normalize("NFC")
    .replaceAll(/[äöüß]/g, (letter) => GERMAN[letter]!)
    .replaceAll(/[ÄÖÜẞ]/g, (letter) => capitalize(GERMAN[letter.toLowerCase()]!))
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "");
  const name = latin.replaceAll(/[^A-Za-z0-9._]+/g, "-").replace(/^[._-]+/, "");
  const short = name.slice(0, MAX_CHARACTERS);
  return short.replace(/[.-]+$/, "") || "index"; // bounded: `MAX_CHARACTERS`
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
