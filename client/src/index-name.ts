/** Most characters of an index's name. */
const MAX_CHARACTERS = 64;

/**
 * Makes a name that an index may have of any text: "Familienarchiv 2022" becomes
 * "Familienarchiv-2022". A text without Latin letters and digits becomes "index".
 */
export function toIndexName(text: string): string {
  const latin = text.normalize("NFKD").replaceAll("ß", "ss").replaceAll(/\p{M}/gu, "");
  const name = latin.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[._-]+/, "");
  const short = name.slice(0, MAX_CHARACTERS);
  return short.replace(/[.-]+$/, "") || "index"; // bounded: `MAX_CHARACTERS`
}
