import { api } from "../shared/api.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { metadataFields } from "../shared/metadata-fields.js";

/** Opens a dialog that edits the title and metadata of an asset at `path`. */
export function openAssetEditor(asset, path, onSaved) {
  const title = el("input", { id: "edit-title", maxlength: 300, required: true, dir: "auto" });
  title.value = asset.title;
  const metadata = metadataFields(asset.metadata);
  const error = el("div", { role: "alert" });
  const cancel = el("button.quiet", { type: "button" }, "Cancel");
  const save = el("button.main", {}, "Save");
  const form = el(
    "form",
    {},
    el("h2", { id: "edit-heading" }, `Edit this ${asset.asset_type}`),
    el("label", { for: "edit-title" }, "Title"),
    title,
    metadata.root,
    error,
    el("div.row.end", {}, cancel, save),
  );
  const dialog = el("dialog.editor", { "aria-labelledby": "edit-heading" }, form);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.replaceChildren();
    save.disabled = true;
    try {
      const body = { title: title.value, metadata: metadata.read() };
      onSaved(await api("PATCH", path, { body }));
      dialog.close();
      announce("Saved.");
    } catch (problem) {
      error.replaceChildren(errorNotice(problem));
    }
    save.disabled = false;
  });
  document.body.append(dialog);
  dialog.showModal();
}
