/** Moments that are remembered as opened; older ones are dropped. */
export const MAX_VIEWED = 2000;

/** Reads stored ids, the one that was opened last at the end. Anything else counts as none. */
export function parseViewed(text) {
  try {
    const ids = JSON.parse(text);
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string").slice(-MAX_VIEWED) : [];
  } catch {
    return [];
  }
}

/** Adds an id at the end. */
export function addViewed(ids, id) {
  return [...ids.filter((one) => one !== id), id].slice(-MAX_VIEWED);
}
