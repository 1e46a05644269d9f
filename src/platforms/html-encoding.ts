/** Bytes in which a page names its encoding (HTML standard, 13.2.3.2). */
const HEAD_BYTES = 4096;

/**
 * Decodes a page by its byte-order mark, the charset of its content type or that of a `meta`
 * element. Without any, it is UTF-8 if it can be, else Windows-1252.
 */
export function decodeHtml(bytes: Uint8Array, contentType: string): string {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, HEAD_BYTES));
  const labels = [
    markOf(bytes),
    /charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(contentType)?.[1],
    /<meta\s[^>]{0,400}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)?.[1],
  ];
  for (const label of labels) {
    const text = label === undefined ? null : tryDecode(bytes, label, false);
    if (text !== null) return text;
  }
  return tryDecode(bytes, "utf-8", true) ?? tryDecode(bytes, "windows-1252", false)!;
}

function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined;
}

/** Returns null for an unknown label, and with `isFatal` for bytes that aren't in the encoding. */
function tryDecode(bytes: Uint8Array, label: string, isFatal: boolean): string | null {
  try {
    // A page whose meta element can be read isn't UTF-16, whatever it says.
    const isWrong = /^utf-?16/i.test(label) && markOf(bytes) === undefined;
    const decoder = new TextDecoder(isWrong ? "utf-8" : label, {
      fatal: isFatal,
      ignoreBOM: false,
    });
    return decoder.decode(bytes, { stream: true }); // the page may be cut off
  } catch {
    return null;
  }
}
