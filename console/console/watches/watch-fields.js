import { el } from "../shared/element.js";
import { PERCENTS, thresholdText } from "./watch-wording.js";

/** Renders the slider of a lowest probability. `onInput` gets each value, in percent. */
export function probabilityField(percent, onInput = () => {}) {
  const id = "watch-probability";
  const slider = el("input", { type: "range", id, ...PERCENTS, step: 1, value: percent });
  const words = el("output", { for: id });
  const update = () => {
    words.textContent = thresholdText(slider.valueAsNumber);
    slider.setAttribute("aria-valuetext", words.textContent);
  };
  slider.addEventListener("input", () => {
    update();
    onInput(slider.valueAsNumber);
  });
  update();
  return {
    parts: [
      el("label", { for: id }, "Lowest probability"),
      el("div.least.probability", {}, slider, words),
    ],
    read: () => slider.valueAsNumber,
    write(value) {
      slider.value = value;
      update();
    },
  };
}

/** Renders the field of a webhook. */
export function webhookField(url) {
  const id = "watch-webhook";
  const field = el("input", { id, type: "url", placeholder: "https://…", autocomplete: "off" });
  field.value = url ?? "";
  const hint =
    "A public https URL, to which its events are sent instead of the webhook of the index. Leave it empty for that one, or for none.";
  return {
    parts: [el("label", { for: id }, "Webhook URL (optional)"), field, el("p.hint", {}, hint)],
    read: () => field.value.trim() || null,
  };
}
