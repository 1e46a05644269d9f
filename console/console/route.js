import { readSearch, writeSearch } from "./search-state.js";

/** Pages of the account. An index of such a name has its library at `#/stats/library`. */
const ACCOUNT_PAGES = new Set(["stats", "keys", "jobs"]);
const INDEX_PAGES = new Set(["library", "health", "settings"]);

/**
 * Reads the state of the page from the URL's hash, so that reloads and links restore it: `#/` is the
 * list of indices, `#/stats` a page of the account, `#/holidays` an index, `#/holidays/health` a page
 * of it, `#/holidays?q=boat&modes=image` a search in it, `#/holidays?ask=…` a question and
 * `#/holidays?asset=vid_…` a video or an image of it.
 */
export function readRoute(hash = location.hash) {
  const [path, search] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name, page] = path.split("/", 2);
  const params = new URLSearchParams(search);
  const isAccountPage = page === undefined && ACCOUNT_PAGES.has(name);
  return {
    page: isAccountPage ? name : pageOf(name, page),
    index: isAccountPage ? "" : name,
    question: params.get("ask") ?? "",
    asset: params.get("asset") ?? "",
    ...readSearch(params),
  };
}

function pageOf(index, page) {
  if (index === "") return "indices";
  return INDEX_PAGES.has(page) ? page : "library";
}

export function routeHash({ index, page = "library", question, asset, ...search }) {
  const params = question
    ? new URLSearchParams({ ask: question })
    : asset
      ? new URLSearchParams({ asset })
      : writeSearch(search);
  const rest = page !== "library" || ACCOUNT_PAGES.has(index) ? `/${page}` : "";
  return `#/${index}${rest}${params.size > 0 ? `?${params}` : ""}`;
}
