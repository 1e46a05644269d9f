/** Zero bytes among the even or odd ones from which text must be UTF-16. */
const ZEROS = 0.3;

/**
 * A text file's text, without its byte-order mark: UTF-8, UTF-16 of either order (with a mark, or told by
 * its zero bytes), or else Windows-1252, which has all that Latin-1 has.
 */
export function decodeText(bytes: Uint8Array): string {
  const utf16 = orderOf(bytes);
  if (utf16) return new TextDecoder(utf16).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function orderOf(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  const head = bytes.subarray(0, 1000);
  const zeros = (odd: number) => head.filter((byte, i) => byte === 0 && i % 2 === odd).length;
  const [even, odd] = [zeros(0), zeros(1)];
  const enough = (head.length / 2) * ZEROS;
  if (odd > enough && even < odd / 10) return "utf-16le";
  return even > enough && odd < even / 10 ? "utf-16be" : null;
}
