/*
 * What a click on a value of a facet changes of a search: its conditions for a label, its modes for a
 * type, its filter for anything else.
 */

const METADATA = "metadata.";
const TAKEN_AT = "technical.taken_at";
/** Facets that every index has. */
const COMMON = ["label", "asset_type", "folder", "taken_at.year"];
/** Facets of a request, at most (the API's limit). */
const MAX_FACETS = 8;
/** Characters of a value: the API cuts longer ones. */
const MAX_CHARACTERS = 200;
const MAX_CONDITIONS = 5;

/** Returns the facets of a search: those of every index, and the metadata that its hits have. */
export function facetsOf(hits, { steps }) {
  const names = new Set(hits.flatMap(({ metadata }) => Object.keys(metadata)));
  const fields = [...names].filter((name) => hits.some((hit) => isPlain(hit.metadata[name])));
  // A sequence has no conditions, and a label is one.
  const common = COMMON.filter((facet) => facet !== "label" || steps.length === 0);
  return [...common, ...fields.map((name) => METADATA + name)].slice(0, MAX_FACETS);
}

/** Returns the values of a facet that a search can be filtered by. */
export function usableValues(values) {
  return values.filter(({ key }) => isPlain(key) && String(key).length < MAX_CHARACTERS);
}

/** Returns whether a search is filtered by a value of a facet. */
export function isChosen(search, facet, key) {
  if (facet === "label") return search.all.includes(key);
  if (facet === "asset_type") return search.modes.includes(key);
  const { field, rules } = ruleOf(facet, key);
  const present = rulesOf(search.filter[field]);
  if (rules.$eq === undefined) return rules.$gte === present.$gte && rules.$lt === present.$lt;
  return present.$eq === key || (present.$in?.includes(key) ?? false);
}

/**
 * Returns a search that is filtered by a value of a facet as well, or no longer. Values of one field
 * are alternatives. Null if the search has as many conditions as it can.
 */
export function toggleFacet(search, facet, key) {
  const isOn = !isChosen(search, facet, key);
  if (facet === "label") return toggleCondition(search, key, isOn);
  if (facet === "asset_type") return { ...search, modes: toggle(search.modes, key, isOn) };
  const { field, rules } = ruleOf(facet, key);
  const { $eq, $in, ...others } = rulesOf(search.filter[field]);
  const { [field]: _, ...rest } = search.filter;
  const filter = (changed) => {
    const isEmpty = Object.keys(changed).length === 0;
    return { ...search, filter: isEmpty ? rest : { ...rest, [field]: changed } };
  };
  if (rules.$eq === undefined) return filter(isOn ? rules : {});
  const values = toggle($in ?? ($eq === undefined ? [] : [$eq]), key, isOn);
  if (values.length === 0) return filter(others);
  return filter({ ...others, ...(values.length === 1 ? { $eq: values[0] } : { $in: values }) });
}

function toggleCondition(search, label, isOn) {
  const all = toggle(search.all, label, isOn);
  return all.length > MAX_CONDITIONS ? null : { ...search, all };
}

function toggle(values, value, isOn) {
  const others = values.filter((one) => one !== value);
  return isOn ? [...others, value] : others;
}

/** Returns the rules of a filter that a value stands for. */
function ruleOf(facet, key) {
  if (facet === "folder") return { field: facet, rules: { $eq: key } };
  if (facet !== "taken_at.year")
    return { field: facet.slice(METADATA.length), rules: { $eq: key } };
  const year = Number(key);
  return { field: TAKEN_AT, rules: { $gte: `${year}-01-01`, $lt: `${year + 1}-01-01` } };
}

function rulesOf(value) {
  if (value === undefined) return {};
  return typeof value === "object" && value !== null ? value : { $eq: value };
}

function isPlain(value) {
  return ["string", "number", "boolean"].includes(typeof value) && value !== "";
}
