/** Parameters of a `Content-Disposition` (RFC 6266), also of one without a type. */
const PARAMETERS = /(?:^|;)\s*(filename\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^";][^;]*))/gis;
/** An extended value (RFC 8187): charset, language, percent-encoded bytes. */
const EXTENDED = /^([\w.:-]+)'[^']*'(.*)$/s;

/**
 * Returns the file name of a `Content-Disposition`, without folders; null if it names none. The
 * extended form wins if it can be decoded.
 */
export function dispositionFilename(header: string | null): string | null {
  let plain: string | null = null;
  let extended: string | null = null;
  for (const [, name, quoted, token] of (header ?? "").matchAll(PARAMETERS)) {
    const value = quoted?.replaceAll(/\\(.)/gs, "$1") ?? token!.trim();
    if (name!.endsWith("*")) extended ??= decodeExtended(value);
    else plain ??= value;
  }
  return (extended ?? plain)?.split(/[/\\]/).at(-1) || null;
}

function decodeExtended(value: string): string | null {
  const [, charset = "", text = ""] = EXTENDED.exec(value) ?? [];
  if (!/^(?:[\x20-\x24\x26-\x7e]|%[\da-f]{2})*$/i.test(text)) return null;
  const bytes = text.replaceAll(/%(..)/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: false });
    return decoder.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return null;
  }
}
