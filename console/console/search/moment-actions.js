import { addMoment, hasMoment, MAX_MOMENTS, removeMoment, toMoment } from "../cut-list/cut-list.js";
import { onCutListChange, readCutList, storeCutList } from "../cut-list/stored-cut-list.js";
import { announce, el } from "../shared/element.js";
import { readRoute, routeHash } from "../shared/route.js";
import { rememberThumbnail } from "./example-files.js";

/** Renders the buttons of a hit: search by it, add it to the cut list, and `others`. */
export function momentActions(hit, ...others) {
  const buttons = [similarButton(hit, hit.segment_id), cutListButton(hit), ...others];
  return el("p.actions.calm", {}, buttons);
}

/** Renders a button that searches for what is like a hit or an asset. */
export function similarButton({ index_name: index, title, thumbnail_url: url }, id) {
  const onclick = () => {
    rememberThumbnail(id, url);
    location.hash = routeHash({ index, example: { kind: "similar", id, name: title } });
  };
  return action("More like this", title, { onclick });
}

/** Renders a button after which searches and questions are about one video or image. */
export function scopeButton({ index_name: index, asset_id: id, asset_type: type, ...asset }) {
  const { title, thumbnail_url: url } = asset;
  const onclick = () => {
    rememberThumbnail(id, url);
    location.hash = routeHash({ index, view: readRoute().view, scope: { id, name: title } });
    scrollTo({ top: 0 });
  };
  const text = type === "video" ? "Search or ask in this video" : "Ask about this image";
  return action(text, title, { onclick });
}

function cutListButton(hit) {
  const { index_name: index, title } = hit;
  const moment = toMoment(hit, Date.now());
  const button = action("", title, {
    onclick() {
      const list = readCutList(index);
      const isListed = hasMoment(list, moment);
      const changed = isListed ? removeMoment(list, moment) : addMoment(list, moment);
      announce(changeMessage({ list, changed, isStored: storeCutList(index, changed) }));
    },
  });
  cutListButtons.set(button, { index, moment, title });
  drawCutListButton(button, readCutList(index));
  return button;
}

function changeMessage({ list, changed, isStored }) {
  if (!isStored) return "The browser's storage is full: the cut list wasn't changed.";
  if (changed.length < list.length) return "Removed from the cut list.";
  if (changed.length > list.length) return `Added. The cut list has ${changed.length} moments.`;
  return `The cut list is full: it has ${MAX_MOMENTS} moments.`;
}

/** Buttons on the page, each with its moment. */
const cutListButtons = new WeakMap();

function drawCutListButton(button, list) {
  const { moment, title } = cutListButtons.get(button);
  const text = hasMoment(list, moment) ? "Remove from cut list" : "Add to cut list";
  button.textContent = text;
  button.setAttribute("aria-label", `${text}: ${title}`);
}

onCutListChange((index) => {
  const list = readCutList(index);
  for (const button of document.querySelectorAll("button.listed")) {
    if (cutListButtons.get(button)?.index === index) drawCutListButton(button, list);
  }
});

function action(text, title, { onclick }) {
  const name = text === "" ? "button.quiet.faint.listed" : "button.quiet.faint";
  // The buttons of all cards have one text: screen readers need the title, too.
  return el(name, { type: "button", "aria-label": `${text}: ${title}`, onclick }, text);
}
