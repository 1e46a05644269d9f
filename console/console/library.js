import { api, events, indexPath } from "./api.js";
import { assetCard, isDone } from "./asset-card.js";
import { confirmed, el, problem, say } from "./element.js";
import { closeStage } from "./stage.js";

const LOOK_MS = 700;
/** Assets looked at in one go: more would use up the rate limit of a key. */
const LOOKS = 4;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The videos and images of an index, as cards in `list`; those still in the works are followed until
 * they are ready or have failed. `onIndex` gets the index record whenever it is read; `onProblem` an
 * error to show.
 */
export function openLibrary(index, { list, more, onIndex, onProblem }) {
  const cards = new Map();
  const unfinished = new Map();
  let isFollowing = false;

  const pathOf = ({ asset_type: type, asset_id: id }, rest = "") =>
    indexPath(index, `/${type}/${encodeURIComponent(id)}${rest}`);

  const attempt = async (work) => {
    try {
      await work();
    } catch (error) {
      onProblem(error);
    }
  };

  const actions = {
    onRetry: (asset) => attempt(async () => take(await api("POST", pathOf(asset, "/retry")))),
    onDelete: (asset) =>
      attempt(async () => {
        const text = `“${asset.title}” and every moment in it will be gone for good.`;
        if (!(await confirmed(`Delete this ${asset.asset_type}?`, text, "Delete"))) return;
        await api("DELETE", pathOf(asset));
        remove(asset.asset_id);
        say(`${asset.title} is deleted.`);
        await readIndex();
      }),
  };

  const remove = (id) => {
    const root = cards.get(id)?.root;
    if (root?.classList.contains("current")) closeStage();
    root?.remove();
    cards.delete(id);
    unfinished.delete(id);
  };

  /** Shows a record, in place of the card that is there already, and follows it if need be. */
  const take = (asset) => {
    const known = cards.get(asset.asset_id);
    if (known) known.update(asset);
    const card = known ?? assetCard(asset, actions);
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
      if (await hear()) await wait(LOOK_MS);
      else await poll();
    }
    isFollowing = false;
  };

  /** Listens until nothing is in the works, or the stream ends. Resolves to false where there is none. */
  const hear = async () => {
    const stop = new AbortController();
    let isHeard = false;
    try {
      for await (const { event, data } of events(indexPath(index, "/events"), stop)) {
        // What happened before the stream began is in the records.
        if (!isHeard) void lookAtAll().then(() => unfinished.size === 0 && stop.abort());
        isHeard = true;
        if (event) await hears(event, data.data);
        if (unfinished.size === 0) break;
      }
    } catch (error) {
      if (error.status === 401 || error.status === 403) unfinished.clear();
    }
    return isHeard;
  };

  const hears = async (event, { asset_id: id, state, progress }) => {
    const asset = unfinished.get(id);
    if (event === "asset.deleted") remove(id);
    else if (asset && isDone({ state })) await lookUntilSeen(asset);
    else if (asset) take({ ...asset, state, progress });
  };

  const poll = async () => {
    for (let pause = LOOK_MS; unfinished.size > 0;) {
      await wait(pause);
      const looks = [...unfinished.values()].slice(0, LOOKS).map(look);
      pause = Math.max(LOOK_MS, ...(await Promise.all(looks)));
    }
  };

  const lookAtAll = async () => {
    const assets = [...unfinished.values()];
    while (assets.length > 0) await Promise.all(assets.splice(0, LOOKS).map(lookUntilSeen));
  };

  const lookUntilSeen = async (asset) => {
    for (let pause = await look(asset); pause > 0; pause = await look(asset)) await wait(pause);
  };

  /** Resolves to how long to wait at least before the next look, in ms. */
  const look = async (asset) => {
    try {
      const now = await api("GET", pathOf(asset));
      if (!unfinished.has(asset.asset_id)) return 0;
      take(now);
      if (!isDone(now)) return 0;
      say(`${now.title}: ${now.state}.`);
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
      list.append(...page.assets.map(take));
      onIndex(page.index);
      const next = page.next_cursor;
      if (next)
        more.append(el("button", { type: "button", onclick: () => load(next) }, "Show more"));
    } catch (error) {
      more.replaceChildren(problem(error, () => load(cursor)));
    }
    list.removeAttribute("aria-busy");
  };

  return {
    load: () => load(undefined),
    /** Puts an asset that was just added in the place of the card of its upload. */
    add(asset, placeholder) {
      if (cards.has(asset.asset_id)) {
        placeholder.remove();
        take(asset).scrollIntoView({ block: "nearest" });
      } else {
        placeholder.replaceWith(take(asset));
      }
      void attempt(readIndex);
    },
  };
}
