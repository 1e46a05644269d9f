/** The parameter of a `Content-Disposition` (RFC 6266), also of one without a type. */
const FILENAME = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^";][^;]*))/is;
/** Its extended form (RFC 8187): charset, language, percent-encoded bytes. */
const EXTENDED = /(?:^|;)\s*filename\*\s*=\s*"?utf-8'[^']*'([!#-:<-~]*)"?\s*(?:;|$)/is;

/**
 * Returns the file name of a `Content-Disposition`, without folders; null if it names none. The
 * extended form in UTF-8 wins if it can be decoded.
 */
export function dispositionFilename(header: string | null): string | null {
  const [, quoted, token] = FILENAME.exec(header ?? "") ?? [];
  const plain = quoted?.replaceAll(/\\(.)/gs, "$1") ?? token?.trim();
  const name = decodeExtended(EXTENDED.exec(header ?? "")?.[1]) ?? plain;
  return name?.split(/[/\\]/).at(-1) || null;
}

function decodeExtended(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
