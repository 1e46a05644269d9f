import { isComposed } from "../search/terms.js";

/*
 * What a user judged of the shown search, oldest judgment first: `[{ id, isRelevant }]`. The hash of
 * the URL has it as `refined=seg_A,-seg_B`, with a minus before what isn't relevant.
 */

/** Segments of either kind that refine a search, at most (the API's limit). */
export const MAX_REFINING = 20;

/**
 * Returns whether a search can be refined: one with words, or by a stored moment or asset. One with
 * steps, conditions or several indices can't: a judgment is of one query of an index.
 */
export function isRefinable({ example, ...search }) {
  return (!example || example.kind === "similar") && !isComposed(search);
}

/**
 * Reads the refinement of a route's search from its text in the hash. Invalid ids and those beyond
 * the limit are absent.
 */
export function readRefinement(route) {
  let refinement = [];
  const text = isRefinable(route) ? (route.refined ?? "") : "";
  for (const part of text.split(",")) {
    const [, minus, id] = /^(-?)(seg_\w+)$/.exec(part) ?? [];
    if (id) refinement = addJudgment(refinement, id, minus === "") ?? refinement;
  }
  return refinement;
}

/** Returns the text of a refinement in the hash. */
export function writeRefinement(refinement) {
  return refinement.map(({ id, isRelevant }) => `${isRelevant ? "" : "-"}${id}`).join(",");
}

/**
 * Returns a refinement with a new judgment of a segment, or without any if `isRelevant` is null. Null
 * if it would have more segments of a kind than the API takes.
 */
export function addJudgment(refinement, id, isRelevant) {
  const others = refinement.filter((one) => one.id !== id);
  if (isRelevant === null) return others;
  const sameKind = others.filter((one) => one.isRelevant === isRelevant);
  return sameKind.length < MAX_REFINING ? [...others, { id, isRelevant }] : null;
}

/** Returns the fields of the API request for a refined search. */
export function refinementFields(refinement) {
  const [relevant, irrelevant] = [true, false].map((kind) =>
    refinement.filter(({ isRelevant }) => isRelevant === kind).map(({ id }) => id),
  );
  return {
    ...(relevant.length > 0 && { more_like: relevant }),
    ...(irrelevant.length > 0 && { less_like: irrelevant }),
  };
}

/** Says what a search is refined by: "Refined by 2 relevant and 1 not relevant moments". */
export function refinementText(refinement) {
  const relevantCount = refinement.filter(({ isRelevant }) => isRelevant).length;
  const irrelevantCount = refinement.length - relevantCount;
  const kinds = [
    relevantCount > 0 && `${relevantCount} relevant`,
    irrelevantCount > 0 && `${irrelevantCount} not relevant`,
  ];
  const noun = refinement.length === 1 ? "moment" : "moments";
  return `Refined by ${kinds.filter(Boolean).join(" and ")} ${noun}`;
}
