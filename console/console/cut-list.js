/** Moments that a list can have: the API takes that many segments for an edit list. */
export const MAX_MOMENTS = 500;

/** Time in ms after which the link to a thumbnail may have expired. */
const LINK_MS = 50 * 60_000;

/** Returns what a cut list stores of a hit. `now` (epoch ms) is when its links were made. */
export function toMoment(hit, now) {
  const { segment_id, asset_id, asset_type, title, start_seconds, end_seconds } = hit;
  const times = { start_seconds, end_seconds };
  const { thumbnail_url } = hit;
  return { segment_id, asset_id, asset_type, title, ...times, thumbnail_url, linked_at: now };
}

/** Returns whether the links of a moment may have expired. */
export function isOutdated({ linked_at: linkedAt }, now) {
  return !(now - linkedAt < LINK_MS);
}

/** Identifies a moment: a part of a segment is another moment than all of it. */
export function momentKey({ segment_id: id, start_seconds: start, end_seconds: end }) {
  return `${id} ${start} ${end}`;
}

/** Adds a moment at the end, unless the list has it or is full. */
export function addMoment(list, moment) {
  return hasMoment(list, moment) || list.length >= MAX_MOMENTS ? list : [...list, moment];
}

export function removeMoment(list, moment) {
  return list.filter((one) => momentKey(one) !== momentKey(moment));
}

export function hasMoment(list, moment) {
  return list.some((one) => momentKey(one) === momentKey(moment));
}

/** Moves the moment at position `from` to position `to`; the others close the gap. */
export function moveMoment(list, from, to) {
  if (from < 0 || from >= list.length || to < 0 || to >= list.length) return list;
  return list.toSpliced(from, 1).toSpliced(to, 0, list[from]);
}

/** Returns the length of all moments in seconds. Images have none. */
export function totalSeconds(list) {
  return list.reduce((sum, moment) => sum + lengthOf(moment), 0);
}

/** Reads a stored list. Anything that isn't one gives an empty list. */
export function parseMoments(json) {
  try {
    const list = JSON.parse(json);
    return Array.isArray(list) ? list.filter(isMoment).slice(0, MAX_MOMENTS) : [];
  } catch {
    return [];
  }
}

function isMoment(value) {
  if (typeof value !== "object" || value === null) return false;
  const { segment_id, asset_id, title, start_seconds: start, end_seconds: end } = value;
  const isRange = start === null ? end === null : Number.isFinite(start) && Number.isFinite(end);
  return [segment_id, asset_id, title].every((text) => typeof text === "string") && isRange;
}

const COLUMNS = ["position", "title", "type", "start_seconds", "end_seconds", "length_seconds"];

/** Formats a list as CSV (RFC 4180), with a byte order mark, by which Excel knows UTF-8. */
export function formatCsv(list) {
  const rows = list.map((moment, i) => {
    const { title, asset_type: type, start_seconds: start, end_seconds: end } = moment;
    const length = start === null ? null : Number(lengthOf(moment).toFixed(3));
    return [i + 1, title, type, start, end, length, moment.asset_id, moment.segment_id];
  });
  const lines = [[...COLUMNS, "asset_id", "segment_id"], ...rows].map((row) =>
    row.map(csvCell).join(","),
  );
  return `\uFEFF${lines.join("\r\n")}\r\n`;
}

/** Quotes a cell. Spreadsheets would run a text that begins as a formula. */
function csvCell(value) {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function lengthOf({ start_seconds: start, end_seconds: end }) {
  return start === null ? 0 : end - start;
}
