import { parseMoments } from "./cut-list.js";

const PREFIX = "sightline-cut-list:";

/** Reads the cut list of an index in this browser. */
export function readCutList(index) {
  return parseMoments(localStorage.getItem(PREFIX + index));
}

/** Stores a cut list and tells the page, which shows it. Returns false if the storage is full. */
export function storeCutList(index, list) {
  try {
    localStorage.setItem(PREFIX + index, JSON.stringify(list));
  } catch {
    return false;
  }
  window.dispatchEvent(new CustomEvent("cut-list", { detail: { index } }));
  return true;
}

/** Runs `listener` when a cut list changes, also in another tab. */
export function onCutListChange(listener) {
  window.addEventListener("cut-list", ({ detail }) => listener(detail.index));
  window.addEventListener("storage", ({ key }) => {
    if (key?.startsWith(PREFIX)) listener(key.slice(PREFIX.length));
  });
}

/** Whether any cut list of this browser has moments. */
export function hasCutList() {
  const names = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  return names.some((key) => readCutList(key.slice(PREFIX.length)).length > 0);
}

/** Deletes all cut lists of this browser. */
export function clearCutLists() {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  }
}
