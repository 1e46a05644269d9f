import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { announce, el, errorNotice, restoreFocus } from "../shared/element.js";
import { count, dateTime } from "../shared/wording.js";

const POLL_MS = 1500;

/** Endpoints by the kind of a source. */
const PATHS = {
  url: ["videonet", "url"],
  playlist: ["videonet", "playlist"],
  search: ["videonet", "search"],
  profile: ["photonet", "profile"],
};

/** Kinds of import: the kind of the source, and the request field for the user's text. */
const IMPORTS = {
  page: ["url", () => "url"],
  playlist: ["playlist", () => "url"],
  search: ["search", () => "query"],
  profile: ["profile", (text) => (/^https?:/i.test(text) ? "url" : "username")],
};

export function isFromPlatform(type) {
  return type in IMPORTS;
}

/**
 * Shows the import sources of an index in `list`: first those that are followed, running or failed.
 * `onImported` is called when there may be new assets.
 */
export function openSources(index, list, onImported) {
  let isPolling = false;
  /** Failure of the last action, which stays when the list is loaded again. */
  let failure = null;

  const load = async () => {
    try {
      const { sources } = await api("GET", indexPath(index, ["sources"], { limit: 100 }));
      const isActive = ({ follow, state }) => follow || state !== "succeeded";
      const ended = sources.filter((source) => !isActive(source));
      list.replaceChildren(
        ...[failure].filter(Boolean),
        ...sources.filter(isActive).map(line),
        ...endedSources(ended),
      );
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
    const action = (verb, onclick) => {
      const attributes = { type: "button", "aria-label": `${verb} ${name}`, onclick };
      return el("button.quiet.faint", attributes, verb);
    };
    const canFollow = !source.follow && source.kind !== "url";
    const again = [
      action("Import now", () => importAgain(source, name, source.follow)),
      canFollow ? action("Follow", () => importAgain(source, name, true)) : null,
    ];
    const verb = source.follow ? "Stop following" : "Remove";
    const facts = [source.platform, count(source.items, "item"), stateOf(source)];
    if (source.last_synced_at) facts.push(`last import ${dateTime(source.last_synced_at)}`);
    return el(
      "li.source",
      {},
      el("b.title", { title: name, dir: "auto" }, name),
      el("span.facts", {}, facts.join(" · ")),
      source.error ? el("p.notice.bad", {}, source.error.message) : null,
      el(
        "span.actions.calm",
        {},
        ...(isRunning(source) ? [] : again),
        action(verb, () => remove(source, name)),
      ),
    );
  };

  /** Lists what was imported once, folded. */
  const endedSources = (sources) => {
    if (sources.length === 0) return [];
    const summary = el("summary", {}, `Imported once: ${count(sources.length, "source")}`);
    const lines = el("ul.sources", { "aria-label": "Imported once" }, sources.map(line));
    return [el("li", {}, el("details.rest", { open: hasOpenFold() }, summary, lines))];
  };
  const hasOpenFold = () => list.querySelector("details")?.open ?? false;

  const send = (kind, body) => api("POST", indexPath(index, PATHS[kind]), { body });

  const importAgain = (source, name, follow) =>
    attempt(async () => {
      const { kind, request, platform, limit, metadata } = source;
      await send(kind, { ...request, platform, limit, metadata, follow });
      announce(follow && !source.follow ? `${name} is followed.` : `${name} is being imported.`);
    });

  const remove = (source, name) =>
    attempt(async () => {
      await api("DELETE", indexPath(index, ["sources", source.source_id]));
      announce(`${name} is removed. Imported videos and images are kept.`);
    });

  return {
    load,
    add: (text, type, follow) =>
      attempt(async () => {
        const [kind, fieldOf] = IMPORTS[type];
        await send(kind, { [fieldOf(text)]: text, follow });
      }),
  };
}

const STATES = { succeeded: "imported once", failed: "failed", cancelled: "cancelled" };

function isRunning({ state }) {
  return state === "queued" || state === "running";
}

function stateOf({ state, follow }) {
  if (isRunning({ state })) return "importing…";
  return follow ? "followed" : STATES[state];
}
