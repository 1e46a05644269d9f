import { openEditDialog } from "../shared/edit-dialog.js";
import { el } from "../shared/element.js";
import { probabilityField, webhookField } from "./watch-fields.js";
import { toPercent } from "./watch-wording.js";

/** Opens a dialog that edits the name, the words, the lowest probability and the webhook of a watch. */
export function openWatchEditor(watch, path, onSaved) {
  const { name, query, min_probability: lowest, webhook_url: url } = watch;
  const hasExample = watch.similar_to !== null || watch.has_image;
  const text = { maxlength: 200, required: true, autocomplete: "off", dir: "auto" };
  const nameField = el("input", { id: "edit-watch-name", ...text });
  nameField.value = name;
  const words = el("input", {
    id: "edit-watch-query",
    maxlength: 2000,
    required: !hasExample,
    autocomplete: "off",
    dir: "auto",
  });
  words.value = query ?? "";
  const probability = probabilityField(toPercent(lowest));
  const webhook = webhookField(url);
  const parts = [
    el("label", { for: "edit-watch-name" }, "Name"),
    nameField,
    el("label", { for: "edit-watch-query" }, hasExample ? "Words (optional)" : "What to watch for"),
    words,
    el("p.hint", {}, "Other words count for what is added from now on. Matches so far stay."),
    ...probability.parts,
    ...webhook.parts,
  ];
  const read = () => {
    const percent = probability.read();
    const newUrl = webhook.read();
    const newQuery = words.value.trim() || null;
    // Keys without the scope `write` see a part of the URL, which is no change of it.
    return {
      name: nameField.value,
      ...(newQuery !== query && { query: newQuery }),
      ...(percent !== toPercent(lowest) && { min_probability: percent / 100 }),
      ...(newUrl !== url && { webhook_url: newUrl }),
    };
  };
  openEditDialog("Edit this watch", { parts, read, path, onSaved });
}
