import { ValidationError } from "./errors.ts";

/** Segments of a path of the API, not encoded: fixed words, names and ids. */
export type ApiPath = readonly string[];

/** Segments that URLs drop, with the one before: the request would be about something else. */
const DROPPED = new Set(["", ".", ".."]);

const LONE_SURROGATE = /\p{Cs}/u;

/** Formats a path for a URL. Throws a `ValidationError` for a segment that no name or id can be. */
export function formatPath(path: ApiPath): string {
  return path.map((segment) => `/${encodeSegment(segment)}`).join("");
}

/** Whether a value can be a segment of a path: a name or an id. */
export function isSegment(value: unknown): value is string {
  return typeof value === "string" && !DROPPED.has(value) && !LONE_SURROGATE.test(value);
}

/** Takes any value: a caller without types may have another one, such as a list. */
function encodeSegment(segment: unknown): string {
  if (isSegment(segment)) return encodeURIComponent(segment);
  const message = `${JSON.stringify(segment)} is neither a name nor an id.`;
  throw new ValidationError(message, {
    issues: [{ loc: ["path"], msg: message, type: "value_error" }],
  });
}
