export { addLocalFile, type LocalUploads } from "./add-local-file.ts";
export { describeEvidence, titleWithFolder } from "./cli/evidence-text.ts";
export { type ListedFiles, listFiles, nameFiles } from "./list-files.ts";
export { estimateWork, type LocalMedia } from "./local-media.ts";
export { openFile } from "./open-file.ts";
export { findTranscripts } from "./sidecars.ts";
export { StoredCopies } from "./stored-copies.ts";
