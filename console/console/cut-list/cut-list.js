/** Moments that a list can have: the API takes that many for an edit list. */
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

export function isImage({ start_seconds: start }) {
  return start === null;
}

/** Returns the moments that the index still has. */
export function listForExport(list) {
  return list.filter((moment) => !moment.is_missing);
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

/** Returns the length of a moment in seconds; 0 for an image. */
export function lengthOf({ start_seconds: start, end_seconds: end }) {
  return start === null ? 0 : end - start;
}
