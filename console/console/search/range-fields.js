import { el } from "../shared/element.js";

/**
 * Renders the fields of a part of a video. `name` is what they are part of; an empty end is its end.
 * `onChange` gets each valid part.
 */
export function rangeFields({ start, end }, name, onChange) {
  const from = secondsField(`Start of the ${name} in seconds`, start);
  const to = secondsField(`End of the ${name} in seconds`, end);
  to.placeholder = "end";
  const change = (event) => {
    event.stopPropagation();
    const last = to.value === "" ? null : to.valueAsNumber;
    const isValid = from.valueAsNumber >= 0 && (last === null || last > from.valueAsNumber);
    to.setCustomValidity(isValid ? "" : "The end must come after the start.");
    if (isValid) onChange({ start: from.valueAsNumber, end: last });
    else to.reportValidity();
  };
  for (const one of [from, to]) one.addEventListener("change", change);
  return [el("span.bound", {}, "from", from), el("span.bound", {}, "to", to)];
}

/** Shows another part in the fields in `root`, but for the field that has the focus. */
export function writeRange(root, { start, end }) {
  const [from, to] = root.querySelectorAll("input");
  if (from !== document.activeElement) from.value = start;
  if (to !== document.activeElement) to.value = end ?? "";
}

/** Renders a field for a time in seconds; null is empty. */
export function secondsField(label, value) {
  const text = value === null ? "" : formatSeconds(value);
  return el("input", { type: "number", min: 0, step: "any", "aria-label": label, value: text });
}

export function formatSeconds(seconds) {
  return String(Number(seconds.toFixed(2)));
}
