/** Ignores case and accents, and whether a text has `ö`, `oe` or `o`. */
export function foldSpelling(text) {
  const letters = text.toLowerCase().replaceAll("ß", "ss").normalize("NFKD");
  return letters.replaceAll(/\p{M}/gu, "").replaceAll(/(?<=[aou])e/g, "");
}
