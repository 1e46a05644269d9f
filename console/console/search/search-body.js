import { readRefinement, refinementFields } from "../judgments/refinement.js";
import { indicesField } from "./searched-indices.js";
import { hasConditions, hasSteps } from "./terms.js";

/** Hits of a page. */
const PAGE = 24;
/** Hits of a search by a file, which has no pages. */
const FILE_HITS = 100;

/** Returns the body of the API request for a search, like a segment or an asset if given. */
export function searchBody(route, similarTo, cursor) {
  const { modes, boxes, masks, topP, filter, scope, grouped, duplicates, literal } = route;
  const { indices = [] } = route;
  return {
    ...soughtFields(route, similarTo),
    ...(topP > 0 && { top_p: topP }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(scope && { asset_ids: [scope.id] }),
    ...(indices.length > 0 && indicesField(indices)),
    ...(grouped && { group_by: "asset" }),
    ...(duplicates && { collapse: false }),
    ...(literal && { correct: false }),
    ...refinementFields(readRefinement(route)),
    ...(cursor && { cursor }),
    modes,
    use_boxes: boxes,
    use_masks: masks,
    top_k: PAGE,
  };
}

/** Returns the fields that say what is searched for: words, an example, a sequence, conditions. */
function soughtFields({ query, ...terms }, similarTo) {
  const { steps, within, all, none, around } = terms;
  if (hasSteps(terms)) {
    const first = similarTo ? { similar_to: similarTo } : query;
    return { sequence: [first, ...steps], within_seconds: within };
  }
  return {
    ...(query && { query }),
    ...(similarTo && { similar_to: similarTo }),
    ...(hasConditions(terms) && {
      ...(all.length > 0 && { all }),
      ...(none.length > 0 && { none }),
      ...(around > 0 && { scope_seconds: around }),
    }),
  };
}

/** Returns the query parameters of a search by a file. Its hits are cut at the lowest score later. */
export function fileSearchParams({ modes, filter, scope, grouped, duplicates }) {
  return {
    top_k: FILE_HITS,
    modes,
    ...(Object.keys(filter).length > 0 && { filter: JSON.stringify(filter) }),
    ...(scope && { asset_ids: scope.id }),
    ...(grouped && { group_by: "asset" }),
    ...(duplicates && { collapse: false }),
  };
}
