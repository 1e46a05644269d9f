import { openEditDialog } from "../shared/edit-dialog.js";
import { el } from "../shared/element.js";
import { metadataFields } from "../shared/metadata-fields.js";

/** Opens a dialog that edits the title and metadata of an asset at `path`. */
export function openAssetEditor(asset, path, onSaved) {
  const title = el("input", { id: "edit-title", maxlength: 300, required: true, dir: "auto" });
  title.value = asset.title;
  const metadata = metadataFields(asset.metadata);
  const parts = [el("label", { for: "edit-title" }, "Title"), title, metadata.root];
  const read = () => ({ title: title.value, metadata: metadata.read() });
  openEditDialog(`Edit this ${asset.asset_type}`, { parts, read, path, onSaved });
}
