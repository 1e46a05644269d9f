/*
 * What a search asks for beside its words or its example, in the hash of the URL: further steps of a
 * sequence, `then=lighthouse&within=30`, or conditions, `all=dog&none=people&around=5`. Searches by a
 * file have neither, and a sequence has no conditions.
 */

/** Conditions of a kind, at most (the API's limit). The words are the first of as many steps. */
export const MAX_TERMS = 5;
export const MAX_SECONDS = 3600;
/** Most seconds between two steps, unless the user changes them. */
export const DEFAULT_WITHIN = 60;

/** A search without steps and conditions. */
export const NO_TERMS = { steps: [], within: DEFAULT_WITHIN, all: [], none: [], around: 0 };

/** Reads the steps or the conditions of a search from the parameters of the hash. */
export function readTerms(params, isStarted) {
  const list = (name, max) => {
    const texts = params.getAll(name).map((text) => text.trim());
    return texts.filter(Boolean).slice(0, max);
  };
  const steps = isStarted ? list("then", MAX_TERMS - 1) : [];
  if (steps.length > 0) {
    return { ...NO_TERMS, steps, within: readSeconds(params.get("within")) || DEFAULT_WITHIN };
  }
  const [all, none] = [list("all", MAX_TERMS), list("none", MAX_TERMS)];
  const hasAny = all.length + none.length > 0;
  return { ...NO_TERMS, all, none, around: hasAny ? readSeconds(params.get("around")) : 0 };
}

/** Adds the steps or the conditions of a search to the parameters of the hash. */
export function writeTerms(params, { steps = [], within, all = [], none = [], around = 0 }) {
  for (const text of steps) params.append("then", text);
  if (steps.length > 0 && within !== DEFAULT_WITHIN) params.set("within", String(within));
  if (steps.length > 0) return;
  for (const text of all) params.append("all", text);
  for (const text of none) params.append("none", text);
  if (around > 0 && all.length + none.length > 0) params.set("around", String(around));
}

export function hasSteps({ steps = [] }) {
  return steps.length > 0;
}

export function hasConditions({ all = [], none = [] }) {
  return all.length + none.length > 0;
}

/** Whether a search asks for more than words or an example, or in other indices. */
export function isComposed(search) {
  return hasSteps(search) || hasConditions(search) || search.indices?.length > 0;
}

function readSeconds(text) {
  const seconds = text ? Number(text) : 0;
  return seconds > 0 && seconds <= MAX_SECONDS ? seconds : 0;
}
