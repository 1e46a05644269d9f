import { isSegment } from "../packages/sightline/api-path.js";
import { ApiError } from "./api-error.js";

/**
 * Returns the target of a request, `{ path, query }`: the segments of a path of the API, and its
 * query. Throws an `ApiError` for a segment that no name or id can be.
 */
export function apiPath(segments, query = {}) {
  const invalid = segments.find((segment) => !isSegment(segment));
  if (invalid !== undefined) throw new ApiError(404, `There is nothing named “${invalid}”.`);
  return { path: segments, query };
}

/** Returns the target of an index, or of what is below it. */
export function indexPath(name, segments = [], query = {}) {
  return apiPath(["index", name, ...segments], query);
}
