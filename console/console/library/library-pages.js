import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

/** Assets of a page of the API. */
const PAGE = 100;

/**
 * Reads the assets of an index page by page, one read after the other, until `isEnough`. `onRequest`
 * is called before each request; `onPage` gets each page, and whether it replaces what was read
 * before; `onEnd` gets nothing, or an error with what repeats the read.
 */
export function openPages(index, { isEnough, onStart, onRequest, onPage, onEnd }) {
  let reading = Promise.resolve();
  /** Cursors of the last page that was read, and of the one behind it. */
  let [lastCursor, nextCursor] = [undefined, null];

  /** Reads from the cursor that `findCursor` returns; nothing if it is null. */
  const read = (findCursor, isFresh = false) =>
    (reading = reading.then(() => readFrom(findCursor(), isFresh)));

  const readFrom = async (cursor, isFresh) => {
    onStart();
    let next = cursor;
    try {
      while (next !== null) {
        onRequest();
        const query = { limit: PAGE, cursor: next };
        const page = await api("GET", indexPath(index, [], query));
        const isFirst = isFresh && next === undefined;
        [lastCursor, nextCursor] = [next, page.next_cursor];
        next = nextCursor;
        onPage(page, isFirst);
        if (isEnough()) break;
      }
      onEnd();
    } catch (error) {
      const failedCursor = next;
      onEnd(error, () => read(() => failedCursor, isFresh));
    }
  };

  return {
    load: () => read(() => undefined, true),
    /** Reads what was added since: it is behind the last page that was read. */
    loadNew: () => read(() => lastCursor),
    readOn: () => void read(() => nextCursor),
    hasMore: () => nextCursor !== null,
  };
}
