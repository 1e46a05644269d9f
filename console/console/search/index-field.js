import { indexTitle } from "../library/index-title.js";
import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice } from "../shared/element.js";
import { formatContents } from "../shared/wording.js";
import { ALL_INDICES, MAX_INDICES } from "./searched-indices.js";

/** Renders the indices of the account as checkboxes in `panel`. `onChange` gets each choice. */
export function openIndexField(index, panel, onChange) {
  let shown = [];
  const list = el("div.stack.tight.choice", {});
  const note = el("p.facts", { role: "status" });
  const fieldset = el("fieldset.stack.tight", {}, el("legend", {}, "Search in"), list, note);
  panel.replaceChildren(fieldset);

  const boxes = () => [...list.querySelectorAll("input")];
  const update = () => {
    const isAll = shown.includes(ALL_INDICES);
    const chosen = shown.length === 0 ? [index] : shown;
    for (const box of boxes()) box.checked = isAll || chosen.includes(box.value);
    const isFull = !isAll && chosen.length >= MAX_INDICES;
    for (const box of boxes()) {
      box.disabled = isFull && !box.checked && box.value !== ALL_INDICES;
    }
    note.textContent = isFull ? `A search has at most ${MAX_INDICES} indices.` : "";
  };

  /** Reads the choice after a click on a box. The open index alone is the usual search. */
  const readAfter = ({ value, checked }) => {
    if (value === ALL_INDICES) return checked ? [ALL_INDICES] : [];
    // One that is taken off all indices leaves the others.
    const chosen = boxes().filter((box) => box.checked && box.value !== ALL_INDICES);
    const names = chosen.map((box) => box.value).slice(0, MAX_INDICES);
    return names.length === 1 && names[0] === index ? [] : names;
  };
  list.addEventListener("change", (event) => {
    event.stopPropagation();
    shown = readAfter(event.target);
    update();
    onChange(shown);
  });

  const load = async () => {
    list.replaceChildren(el("p.facts", {}, "Loading…"));
    try {
      const records = await listIndices();
      const all = indexBox(ALL_INDICES, "All indices", "");
      const others = records.map((one) =>
        indexBox(one.index_name, indexTitle(one), formatContents(one)),
      );
      list.replaceChildren(all, ...others);
      update();
      if (records.length === 1) note.textContent = "This is your only index.";
    } catch (error) {
      list.replaceChildren(errorNotice(error, load));
    }
  };
  void load();
  return {
    write(indices) {
      shown = indices;
      update();
    },
  };
}

async function listIndices() {
  const records = [];
  let cursor = null;
  do {
    const page = await api("GET", apiPath(["index"], { limit: 100, cursor }));
    records.push(...page.indices);
    cursor = page.next_cursor;
  } while (cursor);
  return records;
}

function indexBox(value, name, contents) {
  const box = el("input", { type: "checkbox", value });
  return el("label.tick", {}, box, el("span", {}, name), el("span.facts", {}, contents));
}
