import { el } from "../shared/element.js";
import { routeHash } from "../shared/route.js";

/**
 * Says which words a search corrected, with a link that searches for them as written, and which it
 * excludes. `query` is that of the API's response, if it has one.
 */
export function wordNotes(route, { excluded = [], corrected = null } = {}) {
  const notes = [];
  if (corrected !== null) {
    const literal = routeHash({ ...route, literal: true });
    notes.push(
      el("p.facts", {}, "Nothing here has all of these words as written. ", [
        el("a", { href: literal }, `Search for “${route.query}” instead`),
      ]),
    );
  }
  if (excluded.length > 0) {
    notes.push(el("p.facts", {}, `Without ${excluded.map((word) => `“${word}”`).join(", ")}.`));
  }
  return notes;
}
