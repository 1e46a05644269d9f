import { api, indexPath } from "./api.js";
import { el, problem, say } from "./element.js";
import { count } from "./wording.js";

const LOOK_MS = 1500;

/** What can be brought in from platforms: the endpoint, and the field that names it. */
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
 * What was brought in from platforms, a line each in `list`: how far it is, what is followed. `onBrought` is
 * called when there may be new assets.
 */
export function openSources(index, list, onBrought) {
  let isLooking = false;

  const load = async () => {
    try {
      const { sources } = await api("GET", indexPath(index, "/sources", { limit: 100 }));
      const shown = sources.filter(({ follow, state }) => follow || state !== "succeeded");
      list.replaceChildren(...shown.map(line));
      if (!isLooking && sources.some(isUnderWay)) void look();
    } catch (error) {
      list.replaceChildren(el("li", {}, problem(error, load)));
    }
  };

  /** Does something, and shows what is then; or what went wrong. */
  const attempt = async (work) => {
    try {
      await work();
      await load();
    } catch (error) {
      list.prepend(el("li", {}, problem(error)));
    }
  };

  const look = async () => {
    isLooking = true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    isLooking = false;
    if (!list.isConnected) return;
    await load();
    onBrought();
  };

  const line = (source) => {
    const name = source.title ?? source.query ?? source.url;
    const stop = el(
      "button.quiet.faint",
      { type: "button", "aria-label": `Forget ${name}`, onclick: () => forget(source, name) },
      source.follow ? "Stop following" : "Forget",
    );
    const facts = `${source.platform} · ${count(source.items, "item")} · ${stateOf(source)}`;
    return el(
      "li.row.between.source",
      {},
      el("span", {}, el("b", {}, name), " ", el("span.facts", {}, facts)),
      stop,
    );
  };

  const forget = (source, name) =>
    attempt(async () => {
      await api("DELETE", indexPath(index, `/sources/${source.source_id}`));
      say(`${name} is followed no more. What came from it stays.`);
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

function isUnderWay({ state }) {
  return state === "queued" || state === "running";
}

function stateOf({ state, error, follow, removed }) {
  if (isUnderWay({ state })) return "bringing in what is there…";
  if (error) return error.message;
  const gone = removed > 0 ? `, ${count(removed, "original")} gone` : "";
  return `${follow ? "followed" : state}${gone}`;
}
