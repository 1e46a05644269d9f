import { api } from "../shared/api.js";
import { announce, el, errorNotice } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { count, LIKELY_SCORE } from "../shared/wording.js";
import { facetsOf, isChosen, toggleFacet, usableValues } from "./facet-filter.js";
import { searchBody } from "./search-body.js";
import { searchPath } from "./search-request.js";

const NAMES = {
  label: "Labels",
  asset_type: "Kinds",
  folder: "Folder",
  "taken_at.year": "Year of recording",
};

/** Whether the facets were open last: they stay open while a search is narrowed down. */
let isOpen = false;

/**
 * Renders the facets of a search, closed at first: values of its hits, which filter it. They are
 * counted when they are opened, over the likely hits if there are any: the others are folded.
 */
export function openFacets(route, hits, signal) {
  const outlet = el("div.facets", {}, el("p.facts", {}, "Counting…"));
  const root = el("details.narrow", { open: isOpen }, el("summary", {}, "Narrow down"), outlet);
  let isRead = false;

  const load = async () => {
    const facets = facetsOf(hits, route);
    const similarTo = route.example?.id;
    const hasLikely = hits.some(({ score }) => score > LIKELY_SCORE);
    const topP = hasLikely ? Math.max(route.topP, LIKELY_SCORE) : route.topP;
    const body = { ...searchBody({ ...route, topP }, similarTo), top_k: 1, facets };
    try {
      const found = await api("POST", searchPath(route), { body, signal });
      const groups = facets.map((facet) => facetGroup(route, facet, found.facets?.[facet] ?? []));
      const shown = groups.filter((group) => group !== null);
      outlet.replaceChildren(...(shown.length > 0 ? shown : [el("p.facts", {}, NOTHING)]));
    } catch (error) {
      if (!signal.aborted)
        outlet.replaceChildren(errorNotice(error, error.isFinal ? undefined : load));
    }
  };

  root.addEventListener("toggle", () => {
    isOpen = root.open;
    if (isOpen && !isRead) void load();
    isRead ||= isOpen;
  });
  return root;
}

const NOTHING = "These results have no values in common to narrow them down by.";

/** Renders the values of a facet as toggle buttons; null without any. */
function facetGroup(route, facet, values) {
  const usable = usableValues(values);
  if (usable.length === 0) return null;
  const name = NAMES[facet] ?? facet.slice("metadata.".length);
  const buttons = usable.map(({ key, count: number }) => {
    const isPressed = isChosen(route, facet, key);
    const button = el(
      "button.quiet.chip-button.facet",
      {
        type: "button",
        "aria-pressed": String(isPressed),
        title: `${key}: ${count(number, "moment")}`,
      },
      el("bdi", {}, String(key)),
      el("span.count", {}, number.toLocaleString("en")),
    );
    button.addEventListener("click", () => {
      const changed = toggleFacet(route, facet, key);
      if (changed) location.hash = routeHash(changed);
      else announce("A search has at most 5 conditions.");
    });
    return button;
  });
  return el(
    "div.chips",
    { role: "group", "aria-label": name },
    el("span.facts", {}, name),
    buttons,
  );
}
