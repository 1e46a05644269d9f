import { isComposed } from "../search/terms.js";

/*
 * What a user judged of the shown search, oldest judgment first: `[{ id, isRelevant }]`; null for what
 * was passed over. The hash of the URL has it as `refined=seg_A,-seg_B,~seg_C`, with a minus before
 * what isn't relevant, and a tilde before what was passed over.
 */

/** Segments of either kind that refine a search, at most (the API's limit). */
export const MAX_REFINING = 20;
/** Segments that were passed over, at most (the API's limit). */
export const MAX_SKIPPED = 80;

const SIGNS = { "": true, "-": false, "~": null };

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
    const [, sign, id] = /^([-~]?)(seg_\w+)$/.exec(part) ?? [];
    if (sign === "~") refinement = addSkipped(refinement, [id]);
    else if (id) refinement = addJudgment(refinement, id, SIGNS[sign]) ?? refinement;
  }
  return refinement;
}

/** Returns the text of a refinement in the hash. */
export function writeRefinement(refinement) {
  const signOf = new Map(Object.entries(SIGNS).map(([sign, isRelevant]) => [isRelevant, sign]));
  return refinement.map(({ id, isRelevant }) => signOf.get(isRelevant) + id).join(",");
}

/**
 * Returns a refinement that leaves out segments which were passed over, unless they are judged. The
 * latest count, if they are too many.
 */
export function addSkipped(refinement, ids) {
  const judged = refinement.filter(({ isRelevant }) => isRelevant !== null);
  const before = refinement.filter(({ isRelevant }) => isRelevant === null).map(({ id }) => id);
  const skipped = [...new Set([...before, ...ids])].filter((id) =>
    judged.every((one) => one.id !== id),
  );
  const latest = skipped.slice(-MAX_SKIPPED);
  return [...judged, ...latest.map((id) => ({ id, isRelevant: null }))];
}

/** Returns the last judgment of a refinement; undefined without one. */
export function lastJudgment(refinement) {
  return refinement.findLast(({ isRelevant }) => isRelevant !== null);
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
  const [relevant, irrelevant, skipped] = [true, false, null].map((kind) =>
    refinement.filter(({ isRelevant }) => isRelevant === kind).map(({ id }) => id),
  );
  return {
    ...(relevant.length > 0 && { more_like: relevant }),
    ...(irrelevant.length > 0 && { less_like: irrelevant }),
    ...(skipped.length > 0 && { skipped }),
  };
}

/**
 * Says what a search is refined by: "Refined by 2 relevant and 1 not relevant moments, without 24
 * shown before".
 */
export function refinementText(refinement) {
  const count = (kind) => refinement.filter(({ isRelevant }) => isRelevant === kind).length;
  const [relevant, irrelevant, skipped] = [true, false, null].map(count);
  const judged = relevant + irrelevant;
  const kinds = [
    relevant > 0 && `${relevant} relevant`,
    irrelevant > 0 && `${irrelevant} not relevant`,
  ];
  const noun = judged === 1 ? "moment" : "moments";
  const parts = [
    judged > 0 && `Refined by ${kinds.filter(Boolean).join(" and ")} ${noun}`,
    skipped > 0 && `without ${skipped} shown before`,
  ];
  const text = parts.filter(Boolean).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
