/*
 * A search in the hash of the URL: `q=boat&modes=image&boxes&masks&least=0.5&filter={"year":2024}`,
 * and the example that it compares with: `similar=seg_…`, `range=vid_…&from=3&to=7`, `image=1` or
 * `clip=1`. A file can't be in a URL; its number finds it until the page is reloaded.
 */

const MODES = new Set(["video", "image", "visual", "speech", "text"]);
const EXAMPLES = ["similar", "range", "image", "clip"];

/** Hits of a page. */
const PAGE = 24;

/** Reads a search from the parameters of the hash. Invalid values count as absent. */
export function readSearch(params) {
  return {
    query: params.get("q") ?? "",
    modes: (params.get("modes") ?? "").split(",").filter((mode) => MODES.has(mode)),
    boxes: params.has("boxes"),
    masks: params.has("masks"),
    topP: readNumber(params.get("least"), 0, 1) ?? 0,
    filter: readFilter(params.get("filter")),
    example: readExample(params),
  };
}

/** Returns the parameters of a search, without default values. */
export function writeSearch({ query = "", modes = [], boxes, masks, topP = 0, filter, example }) {
  const params = new URLSearchParams();
  if (query) params.set("q", query);
  if (example) writeExample(params, example);
  if (params.size === 0) return params;
  if (modes.length > 0) params.set("modes", modes.join(","));
  if (boxes) params.set("boxes", "1");
  if (masks) params.set("masks", "1");
  if (topP > 0) params.set("least", String(topP));
  if (filter && Object.keys(filter).length > 0) params.set("filter", JSON.stringify(filter));
  return params;
}

/** Returns the body of the API request for a search, like a segment or an asset if given. */
export function searchBody(route, similarTo, cursor) {
  const { query, modes, boxes, masks, topP, filter } = route;
  return {
    ...(query && { query }),
    ...(similarTo && { similar_to: similarTo }),
    ...(topP > 0 && { top_p: topP }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(cursor && { cursor }),
    modes,
    use_boxes: boxes,
    use_masks: masks,
    top_k: PAGE,
  };
}

function readExample(params) {
  const kind = EXAMPLES.find((name) => params.get(name));
  if (!kind) return null;
  const example = { kind, id: params.get(kind), name: params.get("name") ?? "" };
  if (kind === "similar" || kind === "image") return example;
  const start = readNumber(params.get("from"), 0, Infinity) ?? 0;
  const end = readNumber(params.get("to"), 0, Infinity);
  const isRange = end !== null && end > start;
  if (kind === "range" && !isRange) return null;
  return { ...example, start, end: isRange ? end : null };
}

function writeExample(params, { kind, id, name, start, end }) {
  params.set(kind, id);
  if (name) params.set("name", name);
  if (start) params.set("from", String(start));
  if (end !== null && end !== undefined) params.set("to", String(end));
}

function readFilter(text) {
  try {
    const filter = JSON.parse(text);
    return typeof filter === "object" && filter !== null && !Array.isArray(filter) ? filter : {};
  } catch {
    return {};
  }
}

function readNumber(text, min, max) {
  const number = text ? Number(text) : NaN;
  return number >= min && number <= max && Number.isFinite(number) ? number : null;
}
