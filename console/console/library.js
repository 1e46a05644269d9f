import { api, indexPath, streamEvents } from "./api.js";
import { assetCard, isDone } from "./asset-card.js";
import { arrangeAssets, isSameView, needsAllAssets } from "./asset-order.js";
import { confirmAction, el, errorNotice, announce, replaceCard } from "./element.js";
import { openLibraryTools } from "./library-tools.js";
import { closeStage } from "./stage.js";

const POLL_MS = 700;
/** Assets requested at once: more would use up the rate limit of the key. */
const CONCURRENCY = 4;
/** Cards that are shown at once, and assets of a page of the API. */
const PAGE = 100;
/** Assets that are read for a filter or an order: the API lists by time only. */
const MAX_ASSETS = 5000;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Shows the videos and images of an index as cards in `list`, as `view` filters and orders them at
 * first, and then as `tools` do. Unfinished assets are followed until they are ready or failed.
 * `onIndex` gets each record of the index, `onReady` each asset that becomes ready, `onView` each
 * view that the user chooses, `onError` errors to show.
 */
export function openLibrary(
  index,
  outlets,
  { view: firstView, onIndex, onReady, onView, onError },
) {
  const { list, more, tools } = outlets;
  const assets = new Map();
  const cards = new Map();
  const unfinished = new Map();
  /** Ids of assets that changed since a page was requested: their records in it may be older. */
  const changed = new Set();
  let isFollowing = false;
  let reading = Promise.resolve();
  let view = firstView;
  let shownCount = PAGE;
  let record = null;
  /** Cursors of the last page that was read, and of the one behind it. */
  let [lastCursor, nextCursor] = [undefined, null];

  const setView = (newView) => {
    view = newView;
    shownCount = PAGE;
    draw();
    if (needsAllAssets(view)) readOn();
  };
  const toolbar = openLibraryTools(index, tools, {
    onView: (newView) => [setView, onView].forEach((take) => take(newView)),
    onRetried: (asset) => showAsset(asset),
  });
  toolbar.setView(view);

  const pathOf = ({ asset_type: type, asset_id: id }, rest = "") =>
    indexPath(index, `/${type}/${encodeURIComponent(id)}${rest}`);

  const attempt = async (work) => {
    try {
      await work();
    } catch (error) {
      onError(error);
    }
  };

  const actions = {
    onRetry: (asset) => attempt(async () => showAsset(await api("POST", pathOf(asset, "/retry")))),
    onEdit: (asset) =>
      attempt(async () => {
        const { openAssetEditor } = await import("./asset-editor.js");
        openAssetEditor(asset, pathOf(asset), showAsset);
      }),
    onDelete: (asset) =>
      attempt(async () => {
        const text = `“${asset.title}” and its data will be deleted permanently.`;
        if (!(await confirmAction(`Delete this ${asset.asset_type}?`, text, "Delete"))) return;
        await api("DELETE", pathOf(asset));
        remove(asset.asset_id);
        announce(`${asset.title} is deleted.`);
        await readIndex();
      }),
  };

  const remove = (id) => {
    const root = cards.get(id)?.root;
    if (root?.classList.contains("current")) closeStage();
    if (root) replaceCard(root);
    assets.delete(id);
    cards.delete(id);
    unfinished.delete(id);
    changed.add(id);
  };

  /** Stores an asset's record, updates its card if it has one, and follows it if it is unfinished. */
  const showAsset = (asset) => {
    assets.set(asset.asset_id, asset);
    changed.add(asset.asset_id);
    cards.get(asset.asset_id)?.update(asset);
    unfinished.delete(asset.asset_id);
    if (!isDone(asset)) unfinished.set(asset.asset_id, asset);
    void follow();
  };

  const cardOf = (asset) => {
    const card = cards.get(asset.asset_id) ?? assetCard(asset, actions);
    cards.set(asset.asset_id, card);
    return card.root;
  };

  /** Shows the cards of the view. New ones at the end leave the others, and the player, in place. */
  const draw = () => {
    const matching = arrangeAssets([...assets.values()], view);
    const roots = matching.slice(0, shownCount).map(cardOf);
    const present = [...list.querySelectorAll(":scope > .asset")];
    if (present.every((root, i) => root === roots[i])) {
      list.append(...roots.slice(present.length));
    } else {
      closeStage();
      for (const root of present) root.remove();
      list.append(...roots);
    }
    showMore(matching.length);
    showCounts(matching.length);
  };

  const showMore = (matchingCount) => {
    const isFull = assets.size >= MAX_ASSETS && nextCursor !== null && needsAllAssets(view);
    const hasMore = matchingCount > shownCount || (nextCursor !== null && !needsAllAssets(view));
    const onclick = () => {
      shownCount += PAGE;
      if (matchingCount < shownCount && nextCursor && !needsAllAssets(view)) readOn();
      else draw();
    };
    more.replaceChildren(
      hasMore ? el("button", { type: "button", onclick }, "Show more") : "",
      isFull ? el("p.facts", {}, `Only the ${MAX_ASSETS} oldest are filtered and ordered.`) : "",
      matchingCount === 0 && assets.size > 0 && nextCursor === null
        ? el("p.empty", {}, "Nothing matches these filters.")
        : "",
    );
  };

  const showCounts = (matching) => {
    if (!record) return;
    const { counts, states } = record;
    const total = counts.videos + counts.images;
    const isFiltered = needsAllAssets(view);
    toolbar.update({ matching, read: assets.size, total, failed: states.failed, isFiltered });
  };

  const setRecord = (newer) => {
    record = newer;
    onIndex(newer);
    showCounts(arrangeAssets([...assets.values()], view).length);
  };

  const follow = async () => {
    if (isFollowing) return;
    isFollowing = true;
    while (unfinished.size > 0) {
      if (await followEvents()) await wait(POLL_MS);
      else await poll();
    }
    isFollowing = false;
  };

  /** Follows events until all assets are finished or the stream ends. False if there is no stream. */
  const followEvents = async () => {
    const stop = new AbortController();
    let isConnected = false;
    try {
      for await (const { event, data } of streamEvents(indexPath(index, "/events"), stop)) {
        // Changes from before the stream began are only in the records.
        if (!isConnected) void refreshAll().then(() => unfinished.size === 0 && stop.abort());
        isConnected = true;
        if (event) await handleEvent(event, data.data);
        if (unfinished.size === 0) break;
      }
    } catch (error) {
      if (error.status === 401 || error.status === 403) unfinished.clear();
    }
    return isConnected;
  };

  const handleEvent = async (event, { asset_id: id, state, progress }) => {
    const asset = unfinished.get(id);
    if (event === "asset.deleted") remove(id);
    else if (asset && isDone({ state })) await refreshWithRetry(asset);
    else if (asset) showAsset({ ...asset, state, progress });
  };

  const poll = async () => {
    for (let pauseMs = POLL_MS; unfinished.size > 0;) {
      await wait(pauseMs);
      const refreshes = [...unfinished.values()].slice(0, CONCURRENCY).map(refresh);
      pauseMs = Math.max(POLL_MS, ...(await Promise.all(refreshes)));
    }
  };

  const refreshAll = async () => {
    const assets = [...unfinished.values()];
    while (assets.length > 0) {
      await Promise.all(assets.splice(0, CONCURRENCY).map(refreshWithRetry));
    }
  };

  const refreshWithRetry = async (asset) => {
    let pauseMs;
    while ((pauseMs = await refresh(asset)) > 0) await wait(pauseMs);
  };

  /** Reads an asset's record. Resolves to the pause before a retry in ms, 0 without a retry. */
  const refresh = async (asset) => {
    try {
      const record = await api("GET", pathOf(asset));
      if (!unfinished.has(asset.asset_id)) return 0;
      showAsset(record);
      if (!isDone(record)) return 0;
      announce(`${record.title}: ${record.state}.`);
      if (record.state === "ready") onReady(record);
      await readIndex();
    } catch (error) {
      if (error.status === 404) remove(asset.asset_id);
      else if (error.status === 401 || error.status === 403) unfinished.clear();
      else return (error.retryAfter ?? 3) * 1000;
    }
    return 0;
  };

  const readIndex = async () => {
    setRecord((await api("GET", indexPath(index, "", { limit: 1 }))).index);
  };

  /**
   * Reads the page at the cursor that `findCursor` returns, and those behind it if the view needs
   * them; none if it is null. One read follows the other. A fresh first page replaces what was read
   * before.
   */
  const read = (findCursor, isFresh = false) =>
    (reading = reading.then(() => readPages(findCursor(), isFresh)));

  const readOn = () => void read(() => nextCursor);

  const readPages = async (cursor, isFresh) => {
    if (assets.size === 0) more.replaceChildren(el("p.facts", {}, "Loading…"));
    let next = cursor;
    try {
      while (next !== null) {
        next = await readPage(next, isFresh);
        if (!needsAllAssets(view) || assets.size >= MAX_ASSETS) break;
      }
    } catch (error) {
      const failedCursor = next;
      more.replaceChildren(errorNotice(error, () => read(() => failedCursor, isFresh)));
    }
    list.removeAttribute("aria-busy");
  };

  /** Shows the assets of a page, but for those that changed meanwhile. Returns the next cursor. */
  const readPage = async (cursor, isFresh) => {
    changed.clear();
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    const page = await api("GET", indexPath(index, "", query));
    const newer = new Set(changed);
    const isOlder = (id) => !newer.has(id);
    if (isFresh && !cursor) [...assets.keys()].filter(isOlder).forEach(remove);
    for (const asset of page.assets) if (isOlder(asset.asset_id)) showAsset(asset);
    [lastCursor, nextCursor] = [cursor, page.next_cursor];
    draw();
    setRecord(page.index);
    if (newer.size > 0) void attempt(readIndex);
    return nextCursor;
  };

  return {
    load: () => read(() => undefined, true),
    /** Reads what was added since: it is behind the last page that was read. */
    loadNew: () => read(() => lastCursor),
    /** Shows a view that the user didn't choose in the tools. */
    show(newView) {
      if (isSameView(view, newView)) return;
      toolbar.setView(newView);
      setView(newView);
    },
    /** Replaces the card of an upload by the card of its asset. */
    add(asset, placeholder) {
      const isPresent = cards.get(asset.asset_id)?.root.isConnected;
      showAsset(asset);
      const card = cardOf(asset);
      if (isPresent) {
        replaceCard(placeholder);
        card.scrollIntoView({ block: "nearest" });
      } else {
        replaceCard(placeholder, card);
      }
      void attempt(readIndex);
    },
  };
}
