import { openEditDialog } from "../shared/edit-dialog.js";
import { el } from "../shared/element.js";
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
  const parts = [
    el("label", { for: "edit-watch-name" }, "Name"),
    nameField,
    ...probability.parts,
    ...webhook.parts,
    el("p.hint", {}, "What it looks for stays: make another watch for something else."),
  ];
  const read = () => {
    const percent = probability.read();
    const newUrl = webhook.read();
    // Keys without the scope `write` see a part of the URL, which is no change of it.
    return {
      name: nameField.value,
      ...(percent !== toPercent(lowest) && { min_probability: percent / 100 }),
      ...(newUrl !== url && { webhook_url: newUrl }),
    };
  };
  openEditDialog("Edit this watch", { parts, read, path, onSaved });
}
