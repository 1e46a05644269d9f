/*
 * The indices that are searched in place of the open one, in the hash of the URL: `across=a,b`, or
 * `across=*` for all of the account. A search by an example, or in one video or image, has none.
 */

/** Stands for all indices of the account. */
export const ALL_INDICES = "*";
/** Indices of a search, at most (the API's limit). */
export const MAX_INDICES = 20;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Reads the searched indices from the parameters of the hash; empty for the open one only. */
export function readIndices(params) {
  const names = (params.get("across") ?? "").split(",");
  if (names.includes(ALL_INDICES)) return [ALL_INDICES];
  return [...new Set(names)].filter((name) => NAME.test(name)).slice(0, MAX_INDICES);
}

/** Returns the field of the API request that names the searched indices. */
export function indicesField(indices) {
  return { index_names: indices.includes(ALL_INDICES) ? ALL_INDICES : indices };
}

/** Names the searched indices: "this index", "all indices". */
export function indicesText(indices) {
  if (indices.length === 0) return "this index";
  if (indices.includes(ALL_INDICES)) return "all indices";
  return indices.length === 1 ? `“${indices[0]}”` : `${indices.length} indices`;
}
