import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice } from "../shared/element.js";
import { breadthOf } from "../shared/wording.js";
import { buildFilter, findFolders, listRules, MAX_RULES, OPERATORS } from "./filter-rules.js";

/** Fields that assets have beside their metadata, each with what it is and a value. */
const FIELDS = {
  folder: ["the folder of the file", "2022/Norway"],
  title: ["the name of the file", "beach.mp4"],
  created_at: ["the day it was added", "2026-01-31"],
  duration_seconds: ["the length in seconds", "60"],
  "technical.taken_at": ["the day of the recording", "2022-06-30"],
};
/** Value of a field of the metadata. */
const EXAMPLE = "2024";

const IDLE =
  "Filters narrow a search: type above what to look for. To list a folder, type its name into the field “Title or folder” of the library.";

/** Folders that are read at most. */
const MAX_FOLDERS = 100;

/** Time in which further steps of the slider count as one change. */
const SETTLE_MS = 300;

/**
 * Renders the slider of the lowest score in `chips` and the rows of the filter in `rows`. `onChange`
 * runs when a change may give another search, and gets whether the slider was moved. Folders of
 * `index` are proposed, and found by their last part.
 */
export function openSearchOptions(index, { chips, rows }, onChange) {
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
    Object.entries(FIELDS).map(([value, [label]]) => el("option", { value, label })),
  );
  const folders = el("datalist", { id: "filter-folders" });
  rows.append(known, folders, list, problem);

  let hasFields = false;
  /** Proposes the metadata of the first assets; a filter works without them. */
  const listFields = async () => {
    if (hasFields) return;
    hasFields = true;
    const { assets } = await api("GET", indexPath(index, [], { limit: 100 }));
    const names = new Set(assets.flatMap(({ metadata }) => Object.keys(metadata)));
    const others = [...names].filter((name) => !Object.hasOwn(FIELDS, name));
    known.append(...others.map((value) => el("option", { value, label: "metadata" })));
  };

  let reading = null;
  /** Reads the folders once; a filter works without them. */
  const listFolders = () =>
    (reading ??= readFolders(index).then(
      (paths) => {
        folders.replaceChildren(...paths.map((value) => el("option", { value })));
        return paths;
      },
      () => {
        reading = null;
        return [];
      },
    ));

  /** Replaces a part of the path of a folder in the rows of the filter by the whole path. */
  const completeFolders = async () => {
    for (const row of list.children) {
      const [field, operator, value] = row.querySelectorAll("input, select");
      if (field.value.trim() !== "folder" || value.value.trim() === "") continue;
      const found = operator.value === "$eq" ? findFolders(value.value, await listFolders()) : [];
      if (found.length === 0) continue;
      const [rule] = listRules({ folder: found.length === 1 ? found[0] : { $in: found } });
      [operator.value, value.value] = [rule.operator, rule.value];
    }
  };

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
    listFields().catch(() => (hasFields = false));
  });
  list.addEventListener("change", async (event) => {
    event.stopPropagation();
    const [field, value] = event.target.closest("li").querySelectorAll("input");
    if (!field.value.trim() || !value.value.trim()) return;
    await completeFolders();
    onChange({ isSlider: false });
  });
  list.addEventListener("input", ({ target }) => {
    const [field, value] = target.closest("li").querySelectorAll("input");
    const name = field.value.trim();
    const isFolder = name === "folder";
    value.placeholder = placeholderOf(name);
    if (isFolder) void listFolders();
    value.setAttribute("list", isFolder ? folders.id : "");
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
    completeFolders,
    /** Says what a filter is for, if there is one without a search. */
    explainIdle() {
      if (list.childElementCount > 0) problem.replaceChildren(el("p.notice", {}, IDLE));
    },
  };
}

/** Whether nothing was entered in a row of the filter. */
function isEmpty(row) {
  return [...row.querySelectorAll("input")].every(({ value }) => value.trim() === "");
}

/** Returns an example of a value of a field. */
function placeholderOf(field) {
  return Object.hasOwn(FIELDS, field) ? FIELDS[field][1] : EXAMPLE;
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
      placeholder: "folder, title, year…",
      value: field,
    }),
    el("select", { "aria-label": "Comparison" }, options),
    el("input", { ...text, "aria-label": "Value", placeholder: placeholderOf(field), value }),
    el(
      "button.close",
      { type: "button", "aria-label": "Remove this filter", onclick: onRemove },
      "×",
    ),
  );
}

/** Resolves to the folders that the assets of an index came in, those with most assets first. */
async function readFolders(index) {
  const body = { group_by: "folder", unit: "assets", top: MAX_FOLDERS };
  const { groups } = await api("POST", indexPath(index, ["aggregate"]), { body });
  return groups.map(({ key }) => key).filter((key) => typeof key === "string" && key !== "");
}
