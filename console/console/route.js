/** Pages of the account. An index of such a name has its library at `#/stats/library`. */
const ACCOUNT_PAGES = new Set(["stats", "keys", "jobs"]);
const INDEX_PAGES = new Set(["library", "health", "settings"]);

/**
 * Reads the state of the page from the URL's hash, so that reloads and links restore it: `#/` is the
 * list of indices, `#/stats` a page of the account, `#/holidays` an index, `#/holidays/health` a page
 * of it, `#/holidays?q=boat&modes=image` a search in it and `#/holidays?ask=…` a question.
 */
export function readRoute(hash = location.hash) {
  const [path, search] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name, page] = path.split("/", 2);
  const query = new URLSearchParams(search);
  const isAccountPage = page === undefined && ACCOUNT_PAGES.has(name);
  return {
    page: isAccountPage ? name : pageOf(name, page),
    index: isAccountPage ? "" : name,
    query: query.get("q") ?? "",
    question: query.get("ask") ?? "",
    modes: query.get("modes")?.split(",").filter(Boolean) ?? [],
    boxes: query.has("boxes"),
  };
}

function pageOf(index, page) {
  if (index === "") return "indices";
  return INDEX_PAGES.has(page) ? page : "library";
}

export function routeHash({ index, page = "library", query, question, modes = [], boxes = false }) {
  const search = new URLSearchParams();
  if (query) search.set("q", query);
  if (question) search.set("ask", question);
  if (query && modes.length > 0) search.set("modes", modes.join(","));
  if (query && boxes) search.set("boxes", "1");
  const rest = page !== "library" || ACCOUNT_PAGES.has(index) ? `/${page}` : "";
  return `#/${index}${rest}${search.size > 0 ? `?${search}` : ""}`;
}
