import { announce, el, errorNotice, shape } from "../shared/element.js";
import { readRoute, routeHash } from "../shared/route.js";
import { judgmentOfKey } from "./judging-keys.js";
import {
  addJudgment,
  addSkipped,
  isRefinable,
  MAX_REFINING,
  readRefinement,
  writeRefinement,
} from "./refinement.js";
import { searchIdentity, sendJudgment } from "./send-judgment.js";

/** Judgments since the page was loaded, by search, then segment: null is one that was taken back. */
const judgments = new Map();
/** What each thumb on the page stands for. */
const thumbs = new WeakMap();
/** Segments whose judgments are being sent. */
const sending = new Set();

const THUMBS = [
  { isRelevant: true, name: "Relevant", key: "+", shortcut: "Plus" },
  { isRelevant: false, name: "Not relevant", key: "−", shortcut: "-" },
];
const HAND =
  "M5 7.2 7.6 2a1.5 1.5 0 0 1 1.5 1.6v2.6h3.4a1.2 1.2 0 0 1 1.2 1.4l-.9 4.9a1.2 1.2 0 0 1-1.2 1H5zm0 0H2.3v6.3H5";

const STORED_ONLY = "The judgment is stored. A search by a clip isn't refined by judgments.";
const FULL = `The judgment is stored, but doesn't refine the search: it is refined by at most ${MAX_REFINING} relevant and ${MAX_REFINING} not relevant moments.`;

/** Adds two toggle buttons to the card of a hit, which judge it for the search of a route. */
export function addThumbs(card, { segment_id: id, title, duplicates }, route) {
  const buttons = THUMBS.map(({ isRelevant, name, key, shortcut }) => {
    const attributes = {
      type: "button",
      title: `${name} (${key})`,
      "aria-label": `${name}: ${title}`,
      "aria-keyshortcuts": shortcut,
    };
    const button = el("button.thumb.quiet", attributes, handIcon(isRelevant));
    button.addEventListener("click", () => {
      const isPressed = button.getAttribute("aria-pressed") === "true";
      void judge(route, id, isPressed ? null : isRelevant);
    });
    thumbs.set(button, { route, id, isRelevant });
    return button;
  });
  card.dataset.segment = id;
  card.dataset.segments = [id, ...duplicates].join(" ");
  const row = el("div.judging");
  const facts = card.querySelector(".facts");
  facts.replaceWith(row);
  row.append(facts, el("div.thumbs", {}, buttons));
  row.after(el("div", { role: "alert" }));
  buttons.forEach(drawThumb);
}

/** Judges the card with the focus, or that of the open player, by keys. `list` has the cards. */
export function acceptJudgingKeys(list) {
  list.addEventListener("keydown", (event) => {
    const isRelevant = judgmentOfKey(event);
    if (isRelevant === null) return;
    const { target } = event;
    const card = target.closest(".moment") ?? target.closest(".stage")?.previousElementSibling;
    const buttons = [...(card?.querySelectorAll(".thumb") ?? [])];
    const button = buttons.find((one) => thumbs.get(one)?.isRelevant === isRelevant);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
}

/**
 * Stores a judgment, null to take it back, and refines the shown search by it. A failed request
 * restores the thumbs, and is reported on the card.
 */
export async function judge(route, id, isRelevant) {
  const identity = `${searchIdentity(route)} ${id}`;
  if (sending.has(identity)) return;
  const before = judgmentOf(route, id);
  sending.add(identity);
  setJudgment(route, id, isRelevant);
  alertOf(id)?.replaceChildren();
  try {
    await sendJudgment(route, id, isRelevant);
  } catch (error) {
    setJudgment(route, id, before);
    reportFailure(id, error);
    return;
  } finally {
    sending.delete(identity);
  }
  const text = { true: "Judged as relevant.", false: "Judged as not relevant." }[isRelevant];
  announce(text ?? "The judgment is taken back.");
  refine(route, id, isRelevant);
}

function refine(route, id, isRelevant) {
  const shown = readRoute();
  if (searchIdentity(shown) !== searchIdentity(route)) return;
  if (!isRefinable(shown)) return isRelevant === null ? undefined : showMessage(STORED_ONLY);
  const refinement = addJudgment(readRefinement(shown), id, isRelevant);
  if (refinement === null) return showMessage(FULL);
  const refined = writeRefinement(refinement);
  if (refined !== shown.refined) location.hash = routeHash({ ...shown, refined });
}

/** Searches again without the results on the page that weren't judged. */
export function skipResults(route) {
  const cards = [...document.querySelectorAll(".moment[data-segment]")];
  const visible = cards.filter((card) => card.checkVisibility());
  const ids = visible.flatMap(({ dataset }) => dataset.segments.split(" "));
  const refined = writeRefinement(addSkipped(readRefinement(route), ids));
  location.hash = routeHash({ ...route, refined });
}

/** Takes the judgments in the address over, as after a reload. */
export function readJudgments(route) {
  const known = judgmentsOf(route);
  for (const { id, isRelevant } of readRefinement(route)) {
    if (!known.has(id)) known.set(id, isRelevant);
  }
}

function judgmentsOf(route) {
  const identity = searchIdentity(route);
  const known = judgments.get(identity) ?? new Map();
  judgments.set(identity, known);
  return known;
}

/** Returns the known judgment of a segment; null without one. */
function judgmentOf(route, id) {
  return judgmentsOf(route).get(id) ?? null;
}

function setJudgment(route, id, isRelevant) {
  judgmentsOf(route).set(id, isRelevant);
  document.querySelectorAll(".thumb").forEach(drawThumb);
}

function drawThumb(button) {
  const { route, id, isRelevant } = thumbs.get(button);
  button.setAttribute("aria-pressed", String(judgmentOf(route, id) === isRelevant));
}

function alertOf(id) {
  return document.querySelector(`[data-segment="${CSS.escape(id)}"] > [role=alert]`);
}

function reportFailure(id, { message }) {
  const text = `The judgment wasn't changed. ${message}`;
  const outlet = alertOf(id);
  if (outlet) outlet.replaceChildren(errorNotice({ message: text }));
  else showMessage(text);
}

/** Shows a message above the results, in the outlet of `openRefinementBar`. */
function showMessage(text) {
  const outlet = document.querySelector("[data-part=judging-message]");
  outlet?.replaceChildren(el("p.notice", {}, text));
  outlet?.scrollIntoView({ block: "nearest" });
}

function handIcon(isUp) {
  const transform = isUp ? "" : "matrix(1 0 0 -1 0 16)";
  const path = shape("path", { d: HAND, transform });
  return shape("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, path);
}
