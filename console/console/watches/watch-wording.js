import { listRules, OPERATORS } from "../search/filter-rules.js";

/** Lowest probability of a new watch, and what the form takes, in percent. */
export const DEFAULT_PERCENT = 90;
export const PERCENTS = { min: 10, max: 99 };

/** Characters of the name that a watch is given: the API takes 200 UTF-16 units. */
const NAME_CHARACTERS = 100;
/** Matches below which their share that is right can't be told. */
const MIN_MATCHES = 5;
/** Bars of a chart. */
const DAYS = { min: 14, max: 60 };
const DAY_MS = 24 * 3600 * 1000;

const ASSET_TYPES = { video: "videos", audio: "sound", image: "images" };
const EVIDENCE = { visual: "what is seen", speech: "speech", text: "on-screen text" };

/** Returns a probability in whole percent: 0.57 → 57. */
export function toPercent(probability) {
  return Math.round(probability * 100);
}

/** Says in words what a lowest probability means. */
export function thresholdText(percent) {
  const share = percent % 10 === 0 ? `${percent / 10} in 10` : `${percent} in 100`;
  return `${percent} %: at least ${share} matches should be right`;
}

/** Says what a watch looks for, from its record. */
export function subjectOf({ query, similar_to: id, has_image: hasImage }) {
  const kinds = { seg: "a moment", vid: "a video", aud: "a sound", img: "an image" };
  const kind = kinds[id?.slice(0, 3)] ?? "something";
  const example = id ? `like ${kind} of this index` : hasImage ? "like an image" : null;
  return [query && `“${query}”`, example].filter(Boolean).join(", ");
}

/** Lists in words what a watch is restricted to. */
export function restrictionsOf({ modes = [], asset_types: types = [], filter = {} }) {
  const namesOf = (names) =>
    Object.keys(names)
      .filter((key) => modes.includes(key) || types.includes(key))
      .map((key) => names[key])
      .join(", ");
  const [assets, evidence] = [ASSET_TYPES, EVIDENCE].map(namesOf);
  const rules = listRules(filter).map(({ field, operator, value }) => {
    return `${field} ${OPERATORS[operator]} ${value}`;
  });
  return [assets && `only ${assets}`, evidence && `only by ${evidence}`, ...rules].filter(Boolean);
}

/** Returns the name of a watch that its user gave none. */
export function defaultName(query, example) {
  const name = query.trim() || (example ? `Like ${example.name || "an example"}` : "");
  return [...name].slice(0, NAME_CHARACTERS).join("");
}

/** Returns the fields of a request that say what a watch looks for, from the state of a search. */
export function requestFields({ query, modes, filter, example }) {
  const types = modes.filter((mode) => mode in ASSET_TYPES);
  const evidence = modes.filter((mode) => mode in EVIDENCE);
  return {
    ...(query.trim() && { query: query.trim() }),
    ...(example?.kind === "similar" && { similar_to: example.id }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(evidence.length > 0 && { modes: evidence }),
    ...(types.length > 0 && { asset_types: types }),
  };
}

/** Returns what the result of a preview says of a threshold; null if it says nothing. */
export function findThreshold({ thresholds, min_probability: previewed, matches }, percent) {
  const row = thresholds.find((one) => toPercent(one.min_probability) === percent);
  if (row) return row;
  return toPercent(previewed) === percent ? { min_probability: previewed, matches } : null;
}

/** Says how many matches of a threshold should be right. */
export function precisionText({ matches, expected_precision: mean }) {
  if (matches === 0) return "–";
  return matches < MIN_MATCHES ? "too few to say" : `${toPercent(mean)} %`;
}

/**
 * Returns the days of a chart, in order, with those without matches between them: `{ date, matches }`.
 * Of a longer time, it is the last 60.
 */
export function chartDays(matchesByDay) {
  const byDate = new Map(matchesByDay.map(({ date, matches }) => [date, matches]));
  const [first, last] = [matchesByDay[0], matchesByDay.at(-1)].map(({ date }) => Date.parse(date));
  const length = Math.min(DAYS.max, Math.max(DAYS.min, (last - first) / DAY_MS + 1));
  return Array.from({ length }, (_, i) => {
    const date = new Date(last - (length - 1 - i) * DAY_MS).toISOString().slice(0, 10);
    return { date, matches: byDate.get(date) ?? 0 };
  });
}
