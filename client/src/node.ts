export { addLocalFile, type LocalMedia, type LocalUploads } from "./add-local-file.ts";
export { openFile } from "./open-file.ts";
export { StoredCopies } from "./stored-copies.ts";
