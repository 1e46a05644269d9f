import { el, errorNotice } from "../shared/element.js";
import { breadthOf } from "../shared/wording.js";
import { buildFilter, listRules, MAX_RULES, OPERATORS } from "./filter-rules.js";

/** Fields that assets have, beside their metadata. */
const FIELDS = ["title", "folder", "created_at", "duration_seconds"];

/** Time in which further steps of the slider count as one change. */
const SETTLE_MS = 300;

/**
 * Renders the slider of the lowest score in `chips` and the rows of the filter in `rows`. `onChange`
 * runs when a change may give another search, and gets whether the slider was moved.
 */
export function openSearchOptions({ chips, rows }, onChange) {
  const slider = el("input", { type: "range", id: "least", min: 0, max: 0.9, step: 0.05 });
  const words = el("output", { for: "least" });
  const least = el("div.least", {}, el("label", { for: "least" }, "Results"), slider, words);
  const update = () => {
    words.textContent = breadthOf(slider.valueAsNumber);
    slider.setAttribute("aria-valuetext", words.textContent);
    least.classList.toggle("set", slider.valueAsNumber > 0);
  };
  slider.addEventListener("input", update);
  let settling = 0;
  slider.addEventListener("change", (event) => {
    event.stopPropagation();
    clearTimeout(settling);
    settling = setTimeout(() => slider.isConnected && onChange({ isSlider: true }), SETTLE_MS);
  });
  const add = el("button.quiet.chip-button", { type: "button" }, "Add a filter");
  chips.append(add, least);

  const problem = el("div", { role: "alert" });
  const list = el("ul.rules", { "aria-label": "Filters" });
  const known = el(
    "datalist",
    { id: "filter-fields" },
    FIELDS.map((value) => el("option", { value })),
  );
  rows.append(known, list, problem);

  const addRow = (rule, next = null) => {
    const row = ruleRow(rule, () => {
      row.remove();
      updateRows();
      onChange({ isSlider: false });
    });
    list.insertBefore(row, next);
    updateRows();
    return row;
  };
  const updateRows = () => {
    add.disabled = list.childElementCount >= MAX_RULES;
    problem.replaceChildren();
  };
  add.addEventListener("click", () => {
    const rule = { field: "", operator: "$eq", value: "" };
    addRow(rule).querySelector("input").focus();
  });
  list.addEventListener("change", (event) => {
    event.stopPropagation();
    const [field, value] = event.target.closest("li").querySelectorAll("input");
    if (field.value.trim() && value.value.trim()) onChange({ isSlider: false });
  });

  const readRules = () =>
    [...list.children].map((row) => {
      const [field, operator, value] = row.querySelectorAll("input, select");
      return { field: field.value, operator: operator.value, value: value.value };
    });
  /** Removes rows that say nothing, but the one with the focus. */
  const removeEmptyRows = () => {
    for (const row of list.querySelectorAll("li")) {
      if (isEmpty(row) && !row.contains(document.activeElement)) row.remove();
    }
    updateRows();
  };
  // A row that another window takes the focus from stays, too: it still is the active element's.
  list.addEventListener("focusout", () => setTimeout(removeEmptyRows));
  update();
  return {
    /** Returns the lowest score and the filter, null if a rule is invalid, which is shown. */
    read() {
      try {
        const filter = buildFilter(readRules());
        problem.replaceChildren();
        return { topP: slider.valueAsNumber, filter };
      } catch (error) {
        problem.replaceChildren(errorNotice(error));
        return null;
      }
    },
    write({ topP, filter }) {
      clearTimeout(settling);
      slider.value = topP;
      update();
      // Rows that say this are left alone, and an empty one always is: they may have the focus.
      if (JSON.stringify(readFilter(readRules())) === JSON.stringify(filter)) return;
      for (const row of list.querySelectorAll("li")) if (!isEmpty(row)) row.remove();
      const firstEmpty = list.firstChild;
      for (const rule of listRules(filter)) addRow(rule, firstEmpty);
      updateRows();
    },
    removeEmptyRows,
  };
}

/** Whether nothing was entered in a row of the filter. */
function isEmpty(row) {
  return [...row.querySelectorAll("input")].every(({ value }) => value.trim() === "");
}

function readFilter(rules) {
  try {
    return buildFilter(rules);
  } catch {
    return null;
  }
}

function ruleRow({ field, operator, value }, onRemove) {
  const options = Object.entries(OPERATORS).map(([name, text]) =>
    el("option", { value: name, selected: name === operator }, text),
  );
  const text = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  return el(
    "li.row",
    {},
    el("input", {
      ...text,
      list: "filter-fields",
      "aria-label": "Field of the metadata",
      placeholder: "year",
      value: field,
    }),
    el("select", { "aria-label": "Comparison" }, options),
    el("input", { ...text, "aria-label": "Value", placeholder: "2024", value }),
    el(
      "button.close",
      { type: "button", "aria-label": "Remove this filter", onclick: onRemove },
      "×",
    ),
  );
}
