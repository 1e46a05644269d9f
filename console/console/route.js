/**
 * Reads the state of the page from the URL's hash, so that reloads and links restore it: `#/` is the
 * list of indices, `#/holidays` an index, `#/holidays?q=boat&modes=image` a search in it and
 * `#/holidays?ask=…` a question.
 */
export function readRoute() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const query = new URLSearchParams(search);
  return {
    index: path,
    query: query.get("q") ?? "",
    question: query.get("ask") ?? "",
    modes: query.get("modes")?.split(",").filter(Boolean) ?? [],
    boxes: query.has("boxes"),
  };
}

export function routeHash({ index, query, question, modes = [], boxes = false }) {
  const search = new URLSearchParams();
  if (query) search.set("q", query);
  if (question) search.set("ask", question);
  if (query && modes.length > 0) search.set("modes", modes.join(","));
  if (query && boxes) search.set("boxes", "1");
  return `#/${index}${search.size > 0 ? `?${search}` : ""}`;
}
