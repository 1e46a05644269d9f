import { readSearch, writeSearch } from "./search-state.js";

/**
 * Reads the state of the page from the URL's hash, so that reloads and links restore it: `#/` is the
 * list of indices, `#/holidays` an index, `#/holidays?q=boat&modes=image` a search in it and
 * `#/holidays?ask=…` a question.
 */
export function readRoute() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const params = new URLSearchParams(search);
  return { index: path, question: params.get("ask") ?? "", ...readSearch(params) };
}

export function routeHash({ index, question, ...search }) {
  const params = question ? new URLSearchParams({ ask: question }) : writeSearch(search);
  return `#/${index}${params.size > 0 ? `?${params}` : ""}`;
}
