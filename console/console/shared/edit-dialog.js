import { api } from "./api.js";
import { announce, el, errorNotice } from "./element.js";

/**
 * Opens a dialog with a form that changes a record at `path`: `parts` are its fields, and `read`
 * returns the body of the request. `onSaved` gets the changed record.
 */
export function openEditDialog(heading, { parts, read, path, onSaved }) {
  const error = el("div", { role: "alert" });
  const cancel = el("button.quiet", { type: "button" }, "Cancel");
  const save = el("button.main", {}, "Save");
  const form = el(
    "form",
    {},
    el("h2", { id: "edit-heading" }, heading),
    ...parts,
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
      const saved = await api("PATCH", path, { body: read() });
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
