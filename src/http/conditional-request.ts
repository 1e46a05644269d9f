/** Validators of a representation: a strong, quoted entity tag and the time of the last change. */
interface Validators {
  etag: string;
  modifiedAt: Date;
}

/**
 * Evaluates the preconditions of a request (RFC 9110, section 13.2.2): 200 if they hold, 304 if the
 * client's copy is current, 412 if `If-Match` or `If-Unmodified-Since` fails.
 */
export function evaluateConditions(
  requestHeaders: Headers,
  { etag, modifiedAt }: Validators,
): 200 | 304 | 412 {
  const modifiedSeconds = toWholeSeconds(modifiedAt.getTime());
  const ifMatch = requestHeaders.get("if-match");
  const unmodifiedSince = readDateSeconds(requestHeaders, "if-unmodified-since");
  if (ifMatch === null ? modifiedSeconds > unmodifiedSince : !matchesTag(ifMatch, etag, "strong"))
    return 412;
  const ifNoneMatch = requestHeaders.get("if-none-match");
  if (ifNoneMatch !== null) return matchesTag(ifNoneMatch, etag, "weak") ? 304 : 200;
  return modifiedSeconds <= readDateSeconds(requestHeaders, "if-modified-since") ? 304 : 200;
}

/** Tests `If-Range` (RFC 9110, section 13.1.5): a range is sent only of the same representation. */
export function isRangeCurrent(requestHeaders: Headers, { etag, modifiedAt }: Validators): boolean {
  const ifRange = requestHeaders.get("if-range")?.trim();
  if (ifRange === undefined || ifRange === etag) return true;
  return (
    !ifRange.includes('"') &&
    toWholeSeconds(Date.parse(ifRange)) === toWholeSeconds(modifiedAt.getTime())
  );
}

/** Tests whether a list of entity tags, or `*`, contains `etag`. Weak tags never match strongly. */
function matchesTag(list: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true;
  const tags = [...list.matchAll(/(W\/)?("[^"]*")/g)];
  return tags.some(
    ([, weak, tag]) => tag === etag && (comparison === "weak" || weak === undefined),
  );
}

/**
 * Reads a date header in whole seconds, the resolution of HTTP dates. Returns NaN, which compares
 * false with every time, if the header is missing or malformed.
 */
function readDateSeconds(headers: Headers, name: string): number {
  return toWholeSeconds(Date.parse(headers.get(name) ?? ""));
}

function toWholeSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Result of parsing `Range`: the whole file, no valid part of it, or bytes from `offset`. */
type ByteRange = "whole" | "unsatisfiable" | { offset: number; length: number };

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
