import { announce, el } from "../shared/element.js";
import { DEFAULT_WITHIN, MAX_SECONDS, MAX_TERMS } from "./terms.js";

/** Kinds of fields: the word before each, its name for screen readers, an example, and how many. */
const KINDS = {
  steps: { word: "then", name: "Next step", example: "a lighthouse", max: MAX_TERMS - 1 },
  all: { word: "with", name: "With", example: "a dog", max: MAX_TERMS },
  none: { word: "without", name: "Without", example: "people", max: MAX_TERMS },
};
const NO_SEQUENCE = "A search with conditions has no further steps.";
const NO_CONDITION = "A sequence has no conditions.";

/**
 * Renders the fields of the steps and the conditions of a search in `outlet`, and disables those of
 * the `buttons` that can add none. `onChange` runs when a change may give another search.
 */
export function openTermsField(outlet, buttons, onChange) {
  const lists = {
    steps: el("ol.terms", { "aria-label": "Further steps" }),
    all: el("ul.terms.chips", { "aria-label": "With" }),
    none: el("ul.terms.chips", { "aria-label": "Without" }),
  };
  const within = numberField("Most seconds between two steps", { min: 1, value: DEFAULT_WITHIN });
  const around = numberField("Seconds around the moment that count", { min: 0, value: 0 });
  const pace = el("p.bound.facts", {}, "each within", within, "seconds of the one before");
  const reach = el("p.bound.facts", {}, "in the moment, and up to", around, "seconds around it");
  outlet.replaceChildren(lists.steps, pace, el("div.chips", {}, lists.all, lists.none), reach);
  const inputsOf = (kind) => [...lists[kind].querySelectorAll("input")];
  const textsOf = (kind) => inputsOf(kind).map(({ value }) => value.trim());

  const update = () => {
    const [stepCount, allCount, noneCount] = Object.keys(KINDS).map(
      (kind) => inputsOf(kind).length,
    );
    pace.hidden = stepCount === 0;
    reach.hidden = allCount + noneCount === 0;
    for (const button of buttons.querySelectorAll("button")) {
      const { term } = button.dataset;
      const isExcluded = term === "steps" ? allCount + noneCount > 0 : stepCount > 0;
      const { length } = inputsOf(term);
      button.disabled = isExcluded || length >= KINDS[term].max;
      if (!isExcluded) button.removeAttribute("title");
      else button.title = term === "steps" ? NO_SEQUENCE : NO_CONDITION;
    }
    inputsOf("steps").forEach((input, i) => {
      input.setAttribute("aria-label", `Step ${i + 2}`);
      input.nextElementSibling?.setAttribute("aria-label", `Remove step ${i + 2}`);
    });
  };

  const insert = (kind, value = "") => {
    const { word, name, example } = KINDS[kind];
    const input = el("input", {
      "aria-label": name,
      placeholder: example,
      maxlength: 2000,
      autocomplete: "off",
      enterkeyhint: "search",
      dir: "auto",
    });
    input.value = value;
    const row = el("li.term", {}, el("span.word", {}, word), input);
    const remove = el(
      "button.close",
      { type: "button", "aria-label": "Remove this condition" },
      "×",
    );
    remove.addEventListener("click", () => drop(row, kind, input.value));
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Backspace" || input.value !== "" || event.repeat) return;
      event.preventDefault();
      drop(row, kind, "");
    });
    row.append(remove);
    lists[kind].append(row);
    update();
    return input;
  };

  /** Removes a field. The focus goes to the one before, or to the words of the search. */
  const drop = (row, kind, value) => {
    const before = row.previousElementSibling?.querySelector("input");
    row.remove();
    update();
    (before ?? document.getElementById("text")).focus();
    if (value.trim() === "") return;
    announce(`Removed “${KINDS[kind].word} ${value.trim()}”.`);
    onChange();
  };

  const removeEmpty = () => {
    for (const kind of Object.keys(KINDS)) {
      for (const input of inputsOf(kind)) {
        if (input.value.trim() === "" && input !== document.activeElement) {
          input.closest("li").remove();
        }
      }
    }
    update();
  };

  const read = () => {
    const invalid = [within, around].find(
      (input) => !input.closest("p").hidden && !input.reportValidity(),
    );
    if (invalid) return null;
    const [steps, all, none] = Object.keys(KINDS).map((kind) => textsOf(kind).filter(Boolean));
    return { steps, within: within.valueAsNumber, all, none, around: around.valueAsNumber };
  };

  // Enter changes a field and submits the form, which is one search.
  let isSubmitting = false;
  outlet.addEventListener("keydown", ({ key }) => (isSubmitting = key === "Enter"));
  outlet.addEventListener("change", (event) => {
    event.stopPropagation();
    const isWord = event.target.type !== "number";
    if (!isSubmitting && (isWord || event.target.reportValidity())) onChange();
    isSubmitting = false;
  });
  outlet.addEventListener("focusout", () => setTimeout(removeEmpty));

  return {
    read,
    add(kind) {
      insert(kind).focus();
    },
    /** Shows other steps and conditions. A field that is empty and has the focus stays. */
    write(terms) {
      for (const kind of Object.keys(KINDS)) {
        const texts = textsOf(kind).filter(Boolean);
        if (JSON.stringify(texts) === JSON.stringify(terms[kind])) continue;
        lists[kind].replaceChildren();
        for (const text of terms[kind]) insert(kind, text);
      }
      if (within !== document.activeElement) within.value = terms.within;
      if (around !== document.activeElement) around.value = terms.around;
      update();
    },
  };
}

function numberField(name, { min, value }) {
  return el("input", {
    type: "number",
    "aria-label": name,
    min,
    max: MAX_SECONDS,
    step: "any",
    required: true,
    value,
  });
}
