import { indexPath } from "../shared/api-path.js";
import { api, openEvents } from "../shared/api.js";
import { isDone } from "./asset-card.js";

const POLL_MS = 700;
/** Assets requested at once: more would use up the rate limit of the key. */
const CONCURRENCY = 4;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Follows unfinished assets of an index until they are ready or failed, by its events, or by polling
 * where there are none. `onChange` gets each changed record, `onDone` the last one, `onGone` the id of
 * an asset that was deleted.
 */
export function openProgress(index, { onChange, onDone, onGone }) {
  const unfinished = new Map();
  let isFollowing = false;

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
      const events = await openEvents(indexPath(index, ["events"]), stop);
      isConnected = true;
      // Changes from before the stream began are only in the records.
      void refreshAll().then(() => unfinished.size === 0 && stop.abort());
      for await (const { event, data } of events) {
        await handleEvent(event, JSON.parse(data).data);
        if (unfinished.size === 0) break;
      }
    } catch (error) {
      endIfRefused(error);
    }
    return isConnected;
  };

  const handleEvent = async (event, { asset_id: id, state, progress }) => {
    const asset = unfinished.get(id);
    if (event === "asset.deleted") onGone(id);
    else if (asset && isDone({ state })) await refreshWithRetry(asset);
    else if (asset) onChange({ ...asset, state, progress });
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
  const refresh = async ({ asset_type: type, asset_id: id }) => {
    try {
      const record = await api("GET", indexPath(index, [type, id]));
      if (!unfinished.has(id)) return 0;
      onChange(record);
      if (isDone(record)) await onDone(record);
    } catch (error) {
      if (error.status === 404) onGone(id);
      else if (!endIfRefused(error)) return (error.retryAfter ?? 3) * 1000;
    }
    return 0;
  };

  /** Follows nothing more if the key may not read. */
  const endIfRefused = ({ status }) => {
    const isRefused = status === 401 || status === 403;
    if (isRefused) unfinished.clear();
    return isRefused;
  };

  return {
    /** Follows an asset if its record is unfinished. */
    follow(asset) {
      unfinished.delete(asset.asset_id);
      if (!isDone(asset)) unfinished.set(asset.asset_id, asset);
      void follow();
    },
    forget: (id) => unfinished.delete(id),
  };
}
