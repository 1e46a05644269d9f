import { addViewed, parseViewed } from "./viewed-ids.js";

const KEY = "sightline-viewed-moments";

/** Ids of the moments that were opened in this browser; null until they are read. */
let ids = null;

/** Returns whether a moment was opened in this browser. */
export function isViewed(id) {
  return readIds().has(id);
}

/** Marks a moment as opened. A full storage leaves the mark to this page. */
export function markViewed(id) {
  ids = new Set(addViewed([...readIds()], id));
  try {
    localStorage.setItem(KEY, JSON.stringify([...ids]));
  } catch {
    // The mark is lost with the page.
  }
}

/** Deletes all marks of this browser. */
export function clearViewed() {
  ids = null;
  localStorage.removeItem(KEY);
}

function readIds() {
  ids ??= new Set(parseViewed(localStorage.getItem(KEY)));
  return ids;
}
