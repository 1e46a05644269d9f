/** Length in seconds of a new line that no other line follows. */
const NEW_SECONDS = 3;
/** A new line that had less than this before the end of the video starts earlier. */
const MIN_SECONDS = 0.5;

/** Returns the rows of the transcript editor: cues with their times as text. */
export function rowsOf(cues) {
  return cues.map(({ start, end, text }) => toRow(start, end, text));
}

/**
 * Adds an empty row that starts at the second `now`, or at the end of the video in its last seconds. Returns
 * the new rows and its position.
 */
export function addRow(rows, now, duration) {
  const last = Math.max(0, Math.floor((duration - NEW_SECONDS) * 10) / 10);
  const seconds = duration - now < MIN_SECONDS ? last : now;
  const next = rows.findIndex(({ start }) => parseTime(start) > seconds);
  const position = next === -1 ? rows.length : next;
  const limit = next === -1 ? duration : parseTime(rows[next].start);
  const end = limit > seconds ? Math.min(limit, seconds + NEW_SECONDS) : seconds + NEW_SECONDS;
  return { rows: rows.toSpliced(position, 0, toRow(seconds, end, "")), position };
}

/** Returns the cues of rows, without the deleted and the empty ones. */
export function cuesOf(rows) {
  const cues = rows
    .filter(isUsed)
    .map(({ start, end, text }) => ({ start: parseTime(start), end: parseTime(end), text }));
  return cues.toSorted((a, b) => a.start - b.start);
}

/** Counts the rows that differ from the stored ones: added, deleted or changed. */
export function countChanges(rows, cues) {
  const stored = new Set(rowsOf(cues).map(keyOf));
  const same = rows.filter((row) => isUsed(row) && stored.has(keyOf(row))).length;
  const added = rows.filter(isUsed).length - same;
  return Math.max(added, cues.length - same);
}

/**
 * Returns the first problem of each row: its position, the field that is wrong and a sentence. A
 * `duration` of NaN is not known yet.
 */
export function rowProblems(rows, duration) {
  return rows.flatMap((row, position) => {
    const problem = isUsed(row) ? problemOf(row, duration) : null;
    if (!problem) return [];
    const [field, message] = problem;
    return [{ position, field, message: `Line ${position + 1}: ${message}` }];
  });
}

function problemOf({ start, end }, duration) {
  const [from, to] = [parseTime(start), parseTime(end)];
  if (from === null) return ["start", `“${start}” is not a time. ${HOW}`];
  if (to === null) return ["end", `“${end}” is not a time. ${HOW}`];
  if (to < from) return ["end", `its end, ${end}, is before its start, ${start}.`];
  if (from < duration || Number.isNaN(duration)) return null;
  return ["start", `it starts at ${start}, but the video ends at ${formatTime(duration)}.`];
}

const HOW = "Write seconds, such as 75.5, or minutes and seconds, such as 1:15.5.";

/** Parses "75.5", "1:15.5" or "1:01:15" into seconds; null if it is not a time. */
export function parseTime(text) {
  const trimmed = text.trim().replace(",", ".");
  if (!/^(\d+:)?(\d+:)?\d+(\.\d*)?$/.test(trimmed)) return null;
  const parts = trimmed.split(":").map(Number);
  if (parts.slice(1).some((part) => part >= 60)) return null;
  return parts.reduce((sum, part) => sum * 60 + part, 0);
}

/** Formats seconds as they are typed, to the millisecond: 75.5 → "1:15.5". */
export function formatTime(seconds) {
  const ms = Math.round(seconds * 1000);
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const rest = String((ms % 60_000) / 1000);
  const padded = rest.indexOf(".") === 1 || rest.length === 1 ? `0${rest}` : rest;
  return hours > 0
    ? `${hours}:${String(minutes).padStart(2, "0")}:${padded}`
    : `${minutes}:${padded}`;
}

function toRow(start, end, text) {
  return { start: formatTime(start), end: formatTime(end), text, isDeleted: false };
}

function isUsed({ text, isDeleted }) {
  return !isDeleted && text.trim() !== "";
}

function keyOf({ start, end, text }) {
  return JSON.stringify([start, end, text]);
}
