import { indexPath } from "../shared/api-path.js";
import { openEvents } from "../shared/api.js";

const RECONNECT_MS = 700;
const RETRY_SECONDS = 3;

/**
 * Calls `onMatches` when a watch may have new matches, by the events of the index, as long as `root`
 * is on the page. A stream lasts a minute; then the next one begins.
 */
export async function followMatches(root, { index, watchId, onMatches }) {
  const stop = new AbortController();
  const stopIfLeft = () => root.isConnected || stop.abort();
  window.addEventListener("hashchange", stopIfLeft);
  while (root.isConnected) {
    let pauseMs = RECONNECT_MS;
    try {
      const events = await openEvents(indexPath(index, ["events"]), stop);
      await onMatches(); // what came before the stream began
      for await (const { event, data } of events) {
        if (!root.isConnected) break;
        if (event === "reset" || isMatch(event, data, watchId)) await onMatches();
      }
    } catch (error) {
      if (stop.signal.aborted || [401, 403, 404].includes(error.status)) break;
      pauseMs = (error.retryAfter ?? RETRY_SECONDS) * 1000;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  window.removeEventListener("hashchange", stopIfLeft);
}

function isMatch(event, data, watchId) {
  return event === "watch.matched" && JSON.parse(data).data.watch_id === watchId;
}
