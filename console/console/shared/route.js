import { readView, WHOLE_LIBRARY, writeView } from "../library/asset-order.js";
import { isSegment } from "../packages/sightline/api-path.js";
import { readScope, writeScope } from "../search/scope.js";
import { readSearch, writeSearch } from "../search/search-state.js";

/** Pages of the account. An index of such a name has its library at `#/stats/library`. */
const ACCOUNT_PAGES = new Set(["stats", "keys", "jobs"]);
const INDEX_PAGES = new Set(["library", "watches", "health", "settings", "quality"]);
/** What `#/holidays/watches/new` shows: the form for a watch. Ids of watches begin otherwise. */
export const NEW_WATCH = "new";

/**
 * Reads the state of the page from the URL's hash, so that reloads and links restore it: `#/` is the
 * list of indices, `#/stats` a page of the account, `#/holidays` an index, `#/holidays?state=failed`
 * a part of its library, `#/holidays/health` a page of it, `#/holidays?q=boat&modes=image` a search
 * in it, `#/holidays?ask=…` a question, `#/holidays?asset=vid_…` a video or an image of it,
 * `#/holidays/watches/wat_…` a watch and `#/holidays/watches/new?q=boat` the form for one.
 */
export function readRoute(hash = location.hash) {
  const [path, search] = hash.replace(/^#\/?/, "").split("?", 2);
  const [sent, page, item = ""] = path.split("/", 3);
  const name = isSegment(sent) ? sent : ""; // `#/..` names no index
  const params = new URLSearchParams(search);
  const isAccountPage = page === undefined && ACCOUNT_PAGES.has(name);
  return {
    page: isAccountPage ? name : pageOf(name, page),
    index: isAccountPage ? "" : name,
    question: params.get("ask") ?? "",
    asset: params.get("asset") ?? "",
    watch: page === "watches" ? item : "",
    fromImages: params.has("images"),
    scope: readScope(params),
    view: readView(params),
    ...readSearch(params),
  };
}

function pageOf(index, page) {
  if (index === "") return "indices";
  return INDEX_PAGES.has(page) ? page : "library";
}

/** Returns the hash of a route. A search and a question have no view of the library. */
export function routeHash({ index, page = "library", watch = "", ...state }) {
  const hasState = page === "library" || watch === NEW_WATCH;
  const params = hasState ? writeState(state) : "";
  const rest = page !== "library" || ACCOUNT_PAGES.has(index) ? `/${page}` : "";
  return `#/${index}${rest}${watch && `/${watch}`}${params && `?${params}`}`;
}

function writeState({
  question,
  asset,
  fromImages,
  scope = null,
  view = WHOLE_LIBRARY,
  ...search
}) {
  const indices = scope ? [] : (search.indices ?? []);
  const across = indices.length > 0 && { across: indices.join(",") };
  const asking = question ? { ask: question, ...(fromImages && { images: "1" }), ...across } : null;
  const main = asking ?? (asset ? { asset } : [...writeSearch({ ...search, indices })]);
  const parts = [new URLSearchParams(main), writeScope(scope)];
  if (parts[0].size === 0) parts.push(writeView(view));
  return parts.map(String).filter(Boolean).join("&");
}
