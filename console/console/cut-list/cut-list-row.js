import { el, shape } from "../shared/element.js";
import { imageFrame } from "../shared/image-frame.js";
import { range } from "../shared/wording.js";
import { isImage, momentKey } from "./cut-list.js";

/**
 * Returns a function that renders a moment at a position of a cut list with `length` moments.
 * `onMove` gets where from, where to and the name of the button, `onDrop` the key of a moment that
 * was dragged, and where to.
 */
export function openRows({ onMove, onDrop, onRemove }) {
  let dragged = null;

  const acceptDrag = (row, moment, i) => {
    row.addEventListener("dragstart", ({ dataTransfer }) => {
      dragged = momentKey(moment);
      dataTransfer.effectAllowed = "move";
      dataTransfer.setData("text/plain", moment.title);
    });
    row.addEventListener("dragend", () => (dragged = null));
    row.addEventListener("dragover", (event) => dragged !== null && event.preventDefault());
    row.addEventListener("drop", (event) => {
      if (dragged === null) return;
      event.preventDefault();
      onDrop(dragged, i);
    });
    return row;
  };

  return (moment, i, length) => {
    const { title, asset_type: type, thumbnail_url: url } = moment;
    const [isFirst, isLast] = [i === 0, i === length - 1];
    const up = () => onMove(i, i - 1, "up");
    const down = () => onMove(i, i + 1, "down");
    const row = el(
      "li.cut",
      { draggable: "true" },
      imageFrame({ url, type }),
      el(
        "div.stack",
        {},
        el("h3", { dir: "auto", title }, title),
        el("p.facts", {}, describe(moment)),
      ),
      el(
        "p.actions.calm",
        {},
        rowButton("up", arrow("M8 13V3M3 8l5-5 5 5"), `Move up: ${title}`, up, isFirst),
        rowButton("down", arrow("M8 3v10M3 8l5 5 5-5"), `Move down: ${title}`, down, isLast),
        rowButton("remove", "Remove", `Remove from the cut list: ${title}`, () =>
          onRemove(moment, i),
        ),
      ),
    );
    return acceptDrag(row, moment, i);
  };
}

function rowButton(does, content, label, onclick, disabled = false) {
  const attributes = { type: "button", "data-does": does, disabled, onclick, "aria-label": label };
  return el("button.quiet.faint", attributes, content);
}

/** Renders an arrow: fonts may lack the characters. */
function arrow(path) {
  const attributes = { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" };
  return shape("svg", attributes, shape("path", { d: path }));
}

function describe(moment) {
  const missing = moment.is_missing ? "no longer in the index" : null;
  return [isImage(moment) ? "Image" : range(moment), missing].filter(Boolean).join(" · ");
}
