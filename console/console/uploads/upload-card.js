import { el } from "../shared/element.js";
import { bytes } from "../shared/wording.js";

/**
 * Draws the card of an upload: its `state`, and the `share` that was sent (null without a bar).
 * `actions` are pairs of a verb and what it does; an element `note` stands below.
 */
export function drawUpload(item, state, { actions = [], share = null, note = null }) {
  const { card, name, size, transcript, type } = item;
  const bar = { "aria-label": `Upload of ${name}`, max: 1, value: share };
  const facts = size === null ? "" : `${bytes(size)}${transcript ? ", with transcript" : ""}`;
  card.replaceChildren(
    el("span.image-frame", {}, el("span.stand-in", {}, type ?? "File")),
    el("h3.whole-title", { dir: "auto" }, name),
    el("p.facts", {}, facts),
    el(
      "div.row.between",
      {},
      el("span.facts.state", {}, state),
      el(
        "span.actions",
        {},
        actions.map(([verb, run]) => actionButton(item, verb, run)),
      ),
    ),
    ...[share === null ? null : el("progress", bar), note].filter(Boolean),
  );
}

/** Updates the state and the bar of a card in place, so that its buttons keep the focus. */
export function showSent({ card }, state, share = null) {
  card.querySelector(".state").textContent = state;
  if (share !== null) card.querySelector("progress").value = share;
}

/** Renders a button. What it draws anew gets the focus back on its first button. */
function actionButton({ card, name }, verb, run) {
  const onclick = () => {
    run();
    card.querySelector("button")?.focus();
  };
  const label = `${verb} ${name}`;
  return el("button.quiet.faint", { type: "button", "aria-label": label, onclick }, verb);
}
