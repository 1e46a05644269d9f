import { api, indexPath, streamEvents } from "./api.js";
import { assetCard, isDone } from "./asset-card.js";
import { confirmAction, el, errorNotice, announce, replaceCard } from "./element.js";
import { closeStage } from "./stage.js";

const POLL_MS = 700;
/** Assets requested at once: more would use up the rate limit of the key. */
const CONCURRENCY = 4;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Shows the videos and images of an index as cards in `list`. Unfinished assets are followed until
 * they are ready or failed. `onIndex` gets each record of the index, `onReady` each asset that
 * becomes ready, `onError` errors to show.
 */
export function openLibrary(index, { list, more, onIndex, onReady, onError }) {
  const cards = new Map();
  const unfinished = new Map();
  let isFollowing = false;

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
    cards.delete(id);
    unfinished.delete(id);
  };

  /** Shows an asset in its existing or a new card, and follows it if it is unfinished. */
  const showAsset = (asset) => {
    const existing = cards.get(asset.asset_id);
    if (existing) existing.update(asset);
    const card = existing ?? assetCard(asset, actions);
    cards.set(asset.asset_id, card);
    unfinished.delete(asset.asset_id);
    if (!isDone(asset)) unfinished.set(asset.asset_id, asset);
    void follow();
    return card.root;
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
    onIndex((await api("GET", indexPath(index, "", { limit: 1 }))).index);
  };

  const load = async (cursor) => {
    more.replaceChildren();
    const query = { limit: 100, ...(cursor && { cursor }) };
    try {
      const page = await api("GET", indexPath(index, "", query));
      if (!cursor) [...cards.keys()].forEach(remove);
      list.append(...page.assets.map(showAsset));
      onIndex(page.index);
      const next = page.next_cursor;
      if (next)
        more.append(el("button", { type: "button", onclick: () => load(next) }, "Show more"));
    } catch (error) {
      more.replaceChildren(errorNotice(error, () => load(cursor)));
    }
    list.removeAttribute("aria-busy");
  };

  return {
    load: () => load(undefined),
    /** Replaces the card of an upload by the card of its asset. */
    add(asset, placeholder) {
      if (cards.has(asset.asset_id)) {
        replaceCard(placeholder);
        showAsset(asset).scrollIntoView({ block: "nearest" });
      } else {
        replaceCard(placeholder, showAsset(asset));
      }
      void attempt(readIndex);
    },
  };
}
