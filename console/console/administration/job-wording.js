import { count } from "../shared/wording.js";

const KINDS = {
  ingest: "Adding a video or an image",
  delete_asset: "Deletion of a video or an image",
  delete_index: "Deletion of an index",
  search: "Search",
  transcript: "New transcript",
  import: "Import from a platform",
  traverse: "Check and repair of an index",
  import_archive: "Import of an archive",
  playback_copy: "Copy of a video that browsers play",
  repair: "Repair of a video or an image",
  preview_watch: "Preview of a watch",
  match_watches: "Search of a new video or image for what is watched",
};

const STATES = {
  queued: "Waiting",
  running: "Running",
  succeeded: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};

const CANCELLABLE = new Set([
  "search",
  "transcript",
  "import",
  "import_archive",
  "traverse",
  "playback_copy",
  "repair",
  "preview_watch",
]);

export function jobName({ kind }) {
  return KINDS[kind] ?? kind;
}

export function jobState({ state }) {
  return STATES[state];
}

export function isRunning({ state }) {
  return state === "queued" || state === "running";
}

export function isCancellable(job) {
  return isRunning(job) && CANCELLABLE.has(job.kind);
}

/** Makes a code readable: "vectors_missing" → "Vectors missing". */
export function codeName(code) {
  const words = code.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Says in sentences what a job has done; nothing if its result has no report. */
export function reportOf({ kind, result }) {
  if (!result) return [];
  if (kind === "traverse" || kind === "repair") return repairReport(result);
  if (kind === "import_archive") return archiveReport(result);
  return kind === "import" ? importReport(result) : [];
}

function repairReport({ assets = 0, findings = {}, repaired = {} }) {
  const codes = Object.keys(findings);
  const checked = `${count(assets, "video or image", "videos and images")} checked.`;
  if (codes.length === 0) return [checked, "Nothing to repair."];
  return [
    checked,
    ...codes.map((code) => {
      const done = repaired[code] ?? 0;
      return `${codeName(code)}: ${findings[code]} found, ${done} repaired.`;
    }),
  ];
}

/** Lists what a repair has left: `{ id, title, message }`; `id` is null for the index itself. */
export function leftByRepair({ result }) {
  const left = result?.unrepaired ?? [];
  return left.map(({ asset_id: id, title, message }) => ({ id, title, message }));
}

function archiveReport({ imported = 0, present = 0, failed = [] }) {
  return [
    `${imported} imported, ${present} in the index before, ${failed.length} failed.`,
    ...failed.map(({ asset_id: id, message }) => `${message} (${id})`),
  ];
}

function importReport({ items = [], broken_entries: broken = [] }) {
  const failed = items.filter(({ error }) => error);
  return [
    `${count(items.length, "item")}, ${failed.length} failed.`,
    ...failed.map(({ error, title, url }) => `${title ?? url ?? "An item"}: ${error.message}`),
    ...broken.map(({ page, entry, message }) => `Entry ${entry} of page ${page}: ${message}`),
  ];
}
