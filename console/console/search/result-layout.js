import { isField } from "../player/player-keys.js";
import { closeStage } from "../player/stage.js";
import { announce, el, titleHeading } from "../shared/element.js";
import { readRoute, routeHash } from "../shared/route.js";
import { groupByAsset } from "./asset-groups.js";
import { LAYOUTS, nextLayout } from "./layouts.js";

/** The layout that was chosen last: it stays for searches whose address names none. */
let chosen = "cards";
/** Cycles the layout of the results that are shown; null without any. */
let cycleShown = null;

document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== "v" || ctrlKey || metaKey || altKey || isField(target)) return;
  if (!document.querySelector("dialog[open]")) cycleShown?.();
});

/**
 * Opens the layout of results: cards, a dense grid, or a row for each video. `lists` are elements
 * whose cards `add` appends. The layout is in the page's address.
 */
export function openResultLayout(route, lists) {
  /** Cards of each list with their hits, best first. */
  const entries = lists.map(() => []);
  const buttons = Object.entries(LAYOUTS).map(([name, { label }]) => {
    const attributes = { type: "button", "aria-keyshortcuts": "v", title: "Next view: V" };
    const onclick = () => choose(name);
    return el("button.quiet.chip-button", { ...attributes, "data-layout": name, onclick }, label);
  });
  const root = el("div.layouts.row", { role: "toolbar", "aria-label": "View" }, buttons);
  root.addEventListener("keydown", ({ key, target }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step) buttons.at((buttons.indexOf(target) + step) % buttons.length).focus();
  });

  const arrange = () => {
    const { activeElement } = document;
    for (const [i, list] of lists.entries()) {
      const cards = entries[i].map(({ card }) => card);
      list.classList.toggle("dense", chosen === "dense");
      list.classList.toggle("videos", chosen === "rows");
      list.replaceChildren(...(chosen === "rows" ? groupByAsset(entries[i]).map(assetRow) : cards));
    }
    for (const button of buttons) {
      const isChosen = button.dataset.layout === chosen;
      button.setAttribute("aria-pressed", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1; // one stop for Tab, the arrow keys go on
    }
    if (lists.some((list) => list.contains(activeElement))) activeElement.focus();
  };

  const choose = (name) => {
    chosen = name;
    closeStage();
    arrange();
    storeInAddress();
    announce(`View: ${LAYOUTS[name].label}.`);
  };

  if (route.layout) chosen = route.layout;
  cycleShown = () => root.checkVisibility() && choose(nextLayout(chosen));
  storeInAddress();
  arrange();
  return {
    root,
    /** Appends cards with their hits to a list. */
    add(list, added) {
      const i = lists.indexOf(list);
      entries[i].push(...added);
      if (chosen === "rows") arrange();
      else list.append(...added.map(({ card }) => card));
      return entries[i].length;
    },
  };
}

/** Puts the layout into the address, without another entry in the history. */
function storeInAddress() {
  const shown = readRoute();
  if ((shown.layout || "cards") === chosen) return;
  history.replaceState(null, "", routeHash({ ...shown, layout: chosen }));
}

/** Renders what was found of a video or an image, in the order of time. */
function assetRow(group) {
  const [{ hit }] = group;
  const cards = group.map(({ card }) => card);
  return el(
    "li.asset-row",
    {},
    titleHeading(hit.title),
    el("ul.grid.dense", { "aria-label": hit.title }, cards),
  );
}
