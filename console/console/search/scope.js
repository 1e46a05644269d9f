/*
 * The video or image that searches and questions are about, in the hash of the URL:
 * `in=vid_…&title-in=…`, and `part=5-9` for the seconds of a video that a question is about.
 */

/** Reads a scope from the parameters of the hash; null for the whole index. */
export function readScope(params) {
  const id = params.get("in");
  if (!id) return null;
  const [, from, to] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)?$/.exec(params.get("part")) ?? [];
  const [start, end] = [Number(from ?? 0), to === undefined ? null : Number(to)];
  const isRange = end === null || end > start;
  const range = isRange ? { start, end } : { start: 0, end: null };
  return { id, name: params.get("title-in") ?? "", ...range };
}

export function writeScope(scope) {
  const params = new URLSearchParams();
  if (!scope) return params;
  const { id, name, start = 0, end = null } = scope;
  params.set("in", id);
  if (name) params.set("title-in", name);
  if (start > 0 || end !== null) params.set("part", `${start}-${end ?? ""}`);
  return params;
}

export function isVideo({ id }) {
  return id.startsWith("vid_");
}

/** Names where a search or a question looks. */
export function placeOf(scope) {
  if (scope === null) return "this index";
  return isVideo(scope) ? "this video" : "this image";
}
