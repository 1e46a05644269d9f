/** What identifies a representation: a strong entity tag in quotation marks, and when it came to be. */
export interface Validators {
  etag: string;
  modifiedAt: Date;
}

/**
 * What a conditional request wants (RFC 9110, section 13.2.2): all or part of it, word that it has that already, or
 * nothing because it counted on another.
 */
export function evaluate(asked: Headers, { etag, modifiedAt }: Validators): 200 | 304 | 412 {
  const seconds = toSeconds(modifiedAt.getTime());
  const match = asked.get("if-match");
  const unmodified = dateIn(asked, "if-unmodified-since");
  if (match === null ? seconds > unmodified : !names(match, etag, "strong")) return 412;
  const noneMatch = asked.get("if-none-match");
  if (noneMatch !== null) return names(noneMatch, etag, "weak") ? 304 : 200;
  return seconds <= dateIn(asked, "if-modified-since") ? 304 : 200;
}

/** Whether a part may be sent: what the caller has of it is of this representation (section 13.1.5). */
export function isRangeCurrent(asked: Headers, { etag, modifiedAt }: Validators): boolean {
  const condition = asked.get("if-range")?.trim();
  if (condition === undefined || condition === etag) return true;
  return (
    !condition.includes('"') && toSeconds(Date.parse(condition)) === toSeconds(modifiedAt.getTime())
  );
}

/** Whether a list of tags, or `*`, names this one; by the strong comparison weak ones never do. */
function names(list: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true;
  const tags = [...list.matchAll(/(W\/)?("[^"]*")/g)];
  return tags.some(
    ([, weak, tag]) => tag === etag && (comparison === "weak" || weak === undefined),
  );
}

/** In whole seconds, as dates in headers are; NaN, which is neither before nor after, without one that is readable. */
function dateIn(headers: Headers, name: string): number {
  return toSeconds(Date.parse(headers.get(name) ?? ""));
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
