import { NEW_WATCH } from "../shared/route.js";
import { openNewWatch } from "./new-watch.js";
import { openWatches } from "./watch-list.js";
import { openWatch } from "./watch-page.js";

/** Opens the list of watches of an index, the form for a new one, or the matches of one. */
export function openWatchPage(index, route) {
  if (route.watch === NEW_WATCH) return openNewWatch(index, route);
  return route.watch === "" ? openWatches(index) : openWatch(index, route.watch);
}
