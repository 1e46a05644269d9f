import { readLayout } from "./layouts.js";
import { readIndices } from "./searched-indices.js";
import { hasConditions, NO_TERMS, readTerms, writeTerms } from "./terms.js";

/*
 * A search in the hash of the URL: `q=boat&modes=image&boxes&masks&least=0.5&filter={"year":2024}`,
 * `grouped` for the best moment of each asset, `duplicates` for near-identical ones too, `literal` for
 * words as they are spelled, `refined` for judgments that refine it, and the example that it compares
 * with: `similar=seg_…`, `range=vid_…&from=3&to=7`, `image=1` or `clip=1`. A file can't be in a URL; its number finds it until the page is reloaded.
 */

const MODES = new Set(["video", "audio", "image", "visual", "speech", "text"]);
const TICKS = ["boxes", "masks", "grouped", "duplicates", "literal"];
const EXAMPLES = ["similar", "range", "image", "clip"];

/** Reads a search from the parameters of the hash. Invalid values count as absent. */
export function readSearch(params) {
  const query = params.get("q") ?? "";
  const example = readExample(params);
  return {
    query,
    ...(isFile(example) ? NO_TERMS : readTerms(params, query !== "" || example !== null)),
    modes: (params.get("modes") ?? "").split(",").filter((mode) => MODES.has(mode)),
    boxes: params.has("boxes"),
    masks: params.has("masks"),
    grouped: params.has("grouped"),
    duplicates: params.has("duplicates"),
    literal: params.has("literal"),
    topP: readNumber(params.get("least"), 0, 1) ?? 0,
    filter: readFilter(params.get("filter")),
    example,
    indices: example === null && !params.has("in") ? readIndices(params) : [],
    refined: params.get("refined") ?? "",
    layout: readLayout(params),
  };
}

/** Returns the parameters of a search, without default values. */
export function writeSearch({ query = "", modes = [], topP = 0, filter, example, ...others }) {
  const params = new URLSearchParams();
  if (query) params.set("q", query);
  if (example) writeExample(params, example);
  if (params.size === 0 && !hasConditions(others)) return params;
  if (!isFile(example ?? null)) writeTerms(params, others);
  if (modes.length > 0) params.set("modes", modes.join(","));
  for (const name of TICKS) if (others[name]) params.set(name, "1");
  if (topP > 0) params.set("least", String(topP));
  if (filter && Object.keys(filter).length > 0) params.set("filter", JSON.stringify(filter));
  if (others.indices?.length > 0 && !example) params.set("across", others.indices.join(","));
  if (others.layout && others.layout !== "cards") params.set("layout", others.layout);
  if (others.refined) params.set("refined", others.refined);
  return params;
}

/** Whether a search is by what is sent with it: a file, or a part of a video. */
export function isFile(example) {
  return example !== null && example.kind !== "similar";
}

/** Whether there is anything to search for. */
export function hasSearch({ query, example, ...others }) {
  return query !== "" || example !== null || hasConditions(others);
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
