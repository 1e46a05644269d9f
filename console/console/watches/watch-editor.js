import { api } from "../shared/api.js";
import { announce, el, errorNotice } from "../shared/element.js";
import { probabilityField, webhookField } from "./watch-fields.js";
import { toPercent } from "./watch-wording.js";

/** Opens a dialog that edits the name, the lowest probability and the webhook of a watch. */
export function openWatchEditor(watch, path, onSaved) {
  const { name, min_probability: lowest, webhook_url: url } = watch;
  const text = { maxlength: 200, required: true, autocomplete: "off", dir: "auto" };
  const nameField = el("input", { id: "edit-watch-name", ...text });
  nameField.value = name;
  const probability = probabilityField(toPercent(lowest));
  const webhook = webhookField(url);
  const error = el("div", { role: "alert" });
  const cancel = el("button.quiet", { type: "button" }, "Cancel");
  const save = el("button.main", {}, "Save");
  const form = el(
    "form",
    {},
    el("h2", { id: "edit-watch" }, "Edit this watch"),
    el("label", { for: "edit-watch-name" }, "Name"),
    nameField,
    ...probability.parts,
    ...webhook.parts,
    el("p.hint", {}, "What it looks for stays: make another watch for something else."),
    error,
    el("div.row.end", {}, cancel, save),
  );
  const dialog = el("dialog.editor", { "aria-labelledby": "edit-watch" }, form);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.replaceChildren();
    save.disabled = true;
    const percent = probability.read();
    const newUrl = webhook.read();
    // Keys without the scope `write` see a part of the URL, which is no change of it.
    const body = {
      name: nameField.value,
      ...(percent !== toPercent(lowest) && { min_probability: percent / 100 }),
      ...(newUrl !== url && { webhook_url: newUrl }),
    };
    try {
      const saved = await api("PATCH", path, { body });
      dialog.close();
      onSaved(saved);
      announce("Saved.");
    } catch (problem) {
      error.replaceChildren(errorNotice(problem));
    }
    save.disabled = false;
  });
  document.body.append(dialog);
  dialog.showModal();
}
