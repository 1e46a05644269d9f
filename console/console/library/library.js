import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { confirmAction, announce } from "../shared/element.js";
import { isSpeechWarning } from "../shared/error-advice.js";
import { arrangeAssets, isSameView, needsAllAssets } from "./asset-order.js";
import { openCards } from "./library-cards.js";
import { openPages } from "./library-pages.js";
import { openProgress } from "./library-progress.js";
import { openLibraryTools } from "./library-tools.js";

/** Assets that are read for a filter or an order: the API lists by time only. */
const MAX_ASSETS = 5000;

/**
 * Shows the videos and images of an index as cards in `list`, as `view` filters and orders them at
 * first, and then as `tools` do. Unfinished assets are followed until they are ready or failed.
 * `onIndex` gets each record of the index, `onReady` each asset that becomes ready, `onView` each
 * view that the user chooses, `onError` errors to show. `onMissing` runs if there is no such index.
 */
export function openLibrary(
  index,
  outlets,
  { view: firstView, onIndex, onMissing, onReady, onView, onError },
) {
  const assets = new Map();
  /** Ids of assets that changed since a page was requested: their records in it may be older. */
  const changed = new Set();
  let view = firstView;
  let record = null;

  const pathOf = ({ asset_type: type, asset_id: id }, ...rest) =>
    indexPath(index, [type, id, ...rest]);

  const attempt = async (work) => {
    try {
      await work();
    } catch (error) {
      onError(error);
    }
  };

  const remove = (id) => {
    cards.remove(id);
    assets.delete(id);
    progress.forget(id);
    changed.add(id);
  };

  /** Stores an asset's record, updates its card if it has one, and follows it if it is unfinished. */
  const showAsset = (asset) => {
    assets.set(asset.asset_id, asset);
    changed.add(asset.asset_id);
    cards.update(asset);
    progress.follow(asset);
  };

  const readIndex = async () => {
    setRecord((await api("GET", indexPath(index, [], { limit: 1 }))).index);
  };

  const actions = {
    onRetry: (asset) => attempt(async () => showAsset(await api("POST", pathOf(asset, "retry")))),
    onEdit: (asset) =>
      attempt(async () => {
        const { openAssetEditor } = await import("./asset-editor.js");
        openAssetEditor(asset, pathOf(asset), showAsset);
      }),
    onDelete: (asset) =>
      attempt(async () => {
        const text = `“${asset.title}” and its data will be deleted from this index permanently.`;
        if (!(await confirmAction(`Delete this ${asset.asset_type}?`, text, "Delete"))) return;
        await api("DELETE", pathOf(asset));
        remove(asset.asset_id);
        announce(`${asset.title} is deleted.`);
        await readIndex();
      }),
  };

  const progress = openProgress(index, {
    onChange: showAsset,
    onGone: remove,
    async onDone(asset) {
      announce(`${asset.title}: ${asset.state}.`);
      if (asset.state === "ready") onReady(asset);
      await readIndex();
    },
  });

  window.addEventListener("index-saved", ({ detail }) => {
    if (detail.index_name === index) setRecord(detail);
  });

  // A new transcript changes the warnings of its video, and the counts.
  window.addEventListener("transcript-saved", ({ detail }) => {
    const asset = detail.index === index && assets.get(detail.id);
    if (!asset) return;
    void attempt(async () => {
      showAsset(await api("GET", pathOf(asset)));
      await readIndex();
    });
  });

  const pages = openPages(index, {
    isEnough: () => !needsAllAssets(view) || assets.size >= MAX_ASSETS,
    onStart: () => assets.size === 0 && cards.showLoading(),
    onRequest: () => changed.clear(),
    /** Shows the assets of a page, but for those that changed meanwhile. */
    onPage(page, isFirst) {
      const newer = new Set(changed);
      const isOlder = (id) => !newer.has(id);
      if (isFirst) [...assets.keys()].filter(isOlder).forEach(remove);
      for (const asset of page.assets) if (isOlder(asset.asset_id)) showAsset(asset);
      draw();
      setRecord(page.index);
      if (newer.size > 0) void attempt(readIndex);
    },
    onEnd(error, retry) {
      if (error?.status === 404) onMissing();
      else if (error) cards.showError(error, retry);
      outlets.list.removeAttribute("aria-busy");
    },
  });

  const cards = openCards(outlets, actions, (isRead) => (isRead ? pages.readOn() : draw()));

  const draw = () => {
    const matching = arrangeAssets([...assets.values()], view);
    const needsAll = needsAllAssets(view);
    const isFull = assets.size >= MAX_ASSETS && pages.hasMore() && needsAll;
    cards.draw(matching, {
      hasMore: pages.hasMore() && !needsAll,
      isEmpty: matching.length === 0 && assets.size > 0 && !pages.hasMore(),
      note: isFull && `Only the ${MAX_ASSETS} oldest are filtered and ordered.`,
    });
    showCounts(matching.length);
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

  const setView = (newView) => {
    view = newView;
    cards.reset();
    draw();
    if (needsAllAssets(view)) pages.readOn();
  };

  const toolbar = openLibraryTools(index, outlets.tools, {
    onView: (newView) => [setView, onView].forEach((take) => take(newView)),
    onRetried: showAsset,
  });
  toolbar.setView(view);

  return {
    load: pages.load,
    /** Lists the assets, of those that were read, whose speech no search finds. */
    listUnheard: () =>
      [...assets.values()].filter(({ warnings }) => warnings.some(isSpeechWarning)),
    loadNew: pages.loadNew,
    /** Shows a view that the user didn't choose in the tools. */
    show(newView) {
      if (isSameView(view, newView)) return;
      toolbar.setView(newView);
      setView(newView);
    },
    /** Replaces the card of an upload by the card of its asset. */
    add(asset, placeholder) {
      showAsset(asset);
      cards.replaceUpload(placeholder, asset, arrangeAssets([...assets.values()], view));
      void attempt(readIndex);
    },
  };
}
