/** Result of parsing `Range`: the whole file, no valid part of it, or bytes from `offset`. */
export type ByteRange = "whole" | "unsatisfiable" | { offset: number; length: number };

/**
 * Parses a single byte range (RFC 9110, section 14) of a file of `size` bytes. Malformed and
 * multiple ranges are ignored, as the RFC allows.
 */
export function parseRange(header: string | null, size: number): ByteRange {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (!first && !last) return "whole";
  if (!first) {
    const length = Math.min(Number(last), size);
    return length > 0 ? { offset: size - length, length } : "unsatisfiable";
  }
  const offset = Number(first);
  const end = last ? Math.min(Number(last) + 1, size) : size;
  if (last && Number(last) < offset) return "whole";
  return offset < size ? { offset, length: end - offset } : "unsatisfiable";
}
