import { isComposed } from "../search/terms.js";
import { el } from "../shared/element.js";
import { NEW_WATCH, routeHash } from "../shared/route.js";

/**
 * Links to the form for a watch of what a search looks for, with its corrected words. Returns null for
 * a search by a clip, or with steps, conditions or several indices, which can't be watched for.
 */
export function watchLink(route, corrected) {
  const { index, query, modes, filter, topP, example } = route;
  if (isComposed(route)) return null;
  if (example && example.kind !== "similar" && example.kind !== "image") return null;
  const state = { query: corrected ?? query, modes, filter, topP, example };
  const href = routeHash({ index, page: "watches", watch: NEW_WATCH, ...state });
  const title = "Announces each new moment that matches this search";
  return el("a.button.quiet.chip-button", { href, title }, "Watch this");
}
