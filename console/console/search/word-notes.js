import { el, withCode } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { foldSpelling } from "./spelling.js";
import { MAX_TERMS } from "./terms.js";

/**
 * Says which words a search corrected, with a link that searches for them as written, which it
 * excludes, and a better search if there is one. Other spellings of the same words, "koeln" of
 * "Köln", are no correction. `query` is that of the API's response, if it has one.
 */
export function wordNotes(route, query) {
  const { excluded = [], corrected = null, hint = null, suggested = null } = query ?? {};
  const conditions = (query?.corrected_conditions ?? []).filter(
    (condition) => foldSpelling(condition.corrected) !== foldSpelling(condition.query),
  );
  const notes = [];
  if (hint !== null)
    notes.push(el("p.facts", {}, withCode(hint), " ", suggestionLink(route, suggested)));
  const literal = routeHash({ ...route, literal: true });
  if (corrected !== null && foldSpelling(corrected) !== foldSpelling(route.query)) {
    notes.push(
      el("p.facts", {}, "Nothing here has all of these words as written. ", [
        el("a", { href: literal }, `Search for “${route.query}” instead`),
      ]),
    );
  }
  if (conditions.length > 0) {
    const changes = conditions.map(
      (condition) => `“${condition.corrected}” instead of “${condition.query}”`,
    );
    notes.push(
      el("p.facts", {}, `Searched for ${changes.join(" and ")}. `, [
        el("a", { href: literal }, "Search as written"),
      ]),
    );
  }
  if (excluded.length > 0) {
    notes.push(el("p.facts", {}, `Without ${excluded.map((word) => `“${word}”`).join(", ")}.`));
  }
  return notes;
}

function suggestionLink(route, suggested) {
  if (suggested === null) return [];
  const { query, all = [], none = [] } = suggested;
  const unique = (texts) => [...new Set(texts)].slice(0, MAX_TERMS);
  const conditions = {
    all: unique([...route.all, ...all]),
    none: unique([...route.none, ...none]),
  };
  const href = routeHash({ ...route, query: query ?? "", ...conditions, refined: "" });
  const words = [
    ...(query ? [`“${query}”`] : []),
    ...all.map((text) => `with “${text}”`),
    ...none.map((text) => `without “${text}”`),
  ];
  return [el("a", { href }, `Search for ${words.join(" ")}`)];
}
