import { el } from "./element.js";
import { metadataRows, readJsonObject, readRows } from "./metadata.js";

/**
 * Renders fields for metadata: rows of a name and a value, or JSON. `read` returns the object, and
 * throws an error with a sentence for the user.
 */
export function metadataFields(metadata) {
  const rows = el("div.stack.tight");
  const json = el("textarea", { rows: 8, "aria-label": "Metadata as JSON", spellcheck: "false" });
  const add = el("button.quiet.faint", { type: "button" }, "Add a field");
  const asJson = el("input", { type: "checkbox" });
  const error = el("div", { role: "alert" });

  const addRow = ({ name, value } = { name: "", value: "" }) => {
    const text = { autocomplete: "off", autocapitalize: "off", spellcheck: "false", dir: "auto" };
    const label = name === "" ? "new field" : name;
    const remove = el("button.close", { type: "button", "aria-label": `Remove ${label}` }, "×");
    const row = el(
      "div.pair",
      {},
      el("input", { ...text, "aria-label": "Name", placeholder: "Name" }),
      el("input", { ...text, "aria-label": `Value of ${label}`, placeholder: "Value" }),
      remove,
    );
    const [nameField, valueField] = row.querySelectorAll("input");
    [nameField.value, valueField.value] = [name, value];
    remove.addEventListener("click", () => {
      row.remove();
      add.focus();
    });
    rows.append(row);
    return nameField;
  };
  const setRows = (object) => {
    rows.replaceChildren();
    metadataRows(object).forEach(addRow);
  };
  const readFields = () =>
    readRows(
      [...rows.children].map((row) => {
        const [name, value] = row.querySelectorAll("input");
        return { name: name.value, value: value.value };
      }),
    );
  const read = () => (asJson.checked ? readJsonObject(json.value) : readFields());
  const show = (isJson) => {
    json.hidden = !isJson;
    rows.hidden = add.hidden = isJson;
  };

  add.addEventListener("click", () => addRow().focus());
  asJson.addEventListener("change", () => {
    error.replaceChildren();
    try {
      if (asJson.checked) json.value = JSON.stringify(readFields(), null, 2);
      else setRows(readJsonObject(json.value));
    } catch (problem) {
      error.append(el("p.notice.bad", {}, problem.message));
      asJson.checked = !asJson.checked;
    }
    show(asJson.checked);
  });
  setRows(metadata);
  show(false);
  const root = el(
    "fieldset.stack.tight",
    {},
    el("legend", {}, "Metadata"),
    el("p.hint", {}, "Searches can filter by it. Numbers, true and false are read as such."),
    rows,
    json,
    el("div.row.between", {}, add, el("label.tick", {}, asJson, "As JSON")),
    error,
  );
  return { root, read };
}
