/** Share of zero bytes among the even or the odd ones above which text is UTF-16. */
const MIN_ZERO_SHARE = 0.3;

/**
 * Decodes a text file, without its byte-order mark: UTF-8, UTF-16 of either byte order (detected by
 * the mark or by zero bytes), or else Windows-1252, a superset of Latin-1's printable characters.
 */
export function decodeText(bytes: Uint8Array): string {
  const utf16 = detectUtf16(bytes);
  if (utf16) return new TextDecoder(utf16).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Returns the UTF-16 encoding of the bytes, null if they are in another one. */
function detectUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  const head = bytes.subarray(0, 1000);
  const countZeros = (parity: number) =>
    head.filter((byte, i) => byte === 0 && i % 2 === parity).length;
  const [evenZeros, oddZeros] = [countZeros(0), countZeros(1)];
  const minZeros = (head.length / 2) * MIN_ZERO_SHARE;
  if (oddZeros > minZeros && evenZeros < oddZeros / 10) return "utf-16le";
  return evenZeros > minZeros && oddZeros < evenZeros / 10 ? "utf-16be" : null;
}
