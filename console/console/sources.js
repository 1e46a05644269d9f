import { api, indexPath } from "./api.js";
import { announce, el, errorNotice, restoreFocus } from "./element.js";
import { count, dateTime } from "./wording.js";

const POLL_MS = 1500;

/** Kinds of import: the endpoint, and the request field for the user's text. */
const ENDPOINTS = {
  page: ["/videonet/url", () => "url"],
  playlist: ["/videonet/playlist", () => "url"],
  search: ["/videonet/search", () => "query"],
  profile: ["/photonet/profile", (text) => (/^https?:/i.test(text) ? "url" : "username")],
};

export function isFromPlatform(type) {
  return type in ENDPOINTS;
}

/**
 * Shows the import sources of an index in `list`: those that are followed, running or failed.
 * `onImported` is called when there may be new assets.
 */
export function openSources(index, list, onImported) {
  let isPolling = false;
  /** Failure of the last action, which stays when the list is loaded again. */
  let failure = null;

  const load = async () => {
    try {
      const { sources } = await api("GET", indexPath(index, "/sources", { limit: 100 }));
      const active = sources.filter(({ follow, state }) => follow || state !== "succeeded");
      list.replaceChildren(...[failure].filter(Boolean), ...active.map(line));
      if (!isPolling && sources.some(isRunning)) void poll();
    } catch (error) {
      // The library says that an index doesn't exist.
      if (error.status === 404) list.replaceChildren();
      else list.replaceChildren(el("li", {}, errorNotice(error, load)));
    }
  };

  /** Runs an action and reloads the list, or shows the error. */
  const attempt = async (work) => {
    failure?.remove();
    failure = null;
    try {
      await work();
      await load();
      restoreFocus();
    } catch (error) {
      failure = el("li", {}, errorNotice(error));
      list.prepend(failure);
    }
  };

  const poll = async () => {
    isPolling = true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    isPolling = false;
    if (!list.isConnected) return;
    await load();
    onImported();
  };

  const line = (source) => {
    const name = source.title ?? source.query ?? source.url;
    const verb = source.follow ? "Stop following" : "Remove";
    const stop = el(
      "button.quiet.faint",
      { type: "button", "aria-label": `${verb} ${name}`, onclick: () => remove(source, name) },
      verb,
    );
    const facts = [source.platform, count(source.items, "item"), stateOf(source)];
    if (source.last_synced_at) facts.push(`last import ${dateTime(source.last_synced_at)}`);
    return el(
      "li.source",
      {},
      el("b.title", { title: name, dir: "auto" }, name),
      el("span.facts", {}, facts.join(" · ")),
      stop,
      source.error ? el("p.notice.bad", {}, source.error.message) : null,
    );
  };

  const remove = (source, name) =>
    attempt(async () => {
      await api("DELETE", indexPath(index, `/sources/${source.source_id}`));
      announce(`${name} is no longer followed. Imported assets are kept.`);
    });

  return {
    load,
    add: (text, type, follow) =>
      attempt(async () => {
        const [path, fieldOf] = ENDPOINTS[type];
        await api("POST", indexPath(index, path), { body: { [fieldOf(text)]: text, follow } });
      }),
  };
}

function isRunning({ state }) {
  return state === "queued" || state === "running";
}

function stateOf({ state, follow, removed_upstream: removedCount }) {
  if (isRunning({ state })) return "importing…";
  const removed = removedCount > 0 ? `, ${count(removedCount, "original")} removed` : "";
  return `${follow ? "followed" : state}${removed}`;
}
