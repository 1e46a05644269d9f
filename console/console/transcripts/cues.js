/**
 * Returns the position of the last cue that starts at or before `seconds`, -1 before the first one.
 * Cues are sorted by start.
 */
export function cueAt(cues, seconds) {
  let [low, high] = [0, cues.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cues[middle].start <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Splits text at the occurrences of `term`, in any case: odd positions are the occurrences. */
export function splitMatches(text, term) {
  if (term === "") return [text];
  const escaped = term.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.split(new RegExp(`(${escaped})`, "iu"));
}

/** Returns the positions of the cues that contain `term`, in any case. */
export function findCues(cues, term) {
  return [...cues.keys()].filter((i) => splitMatches(cues[i].text, term).length > 1);
}

/** Formats cues as WebVTT. Cues without text are left out. `language` is a BCP 47 tag or null. */
export function formatWebVtt(cues, language) {
  const header = language === null ? "WEBVTT" : `WEBVTT\nLanguage: ${language}`;
  const blocks = cues.flatMap(({ start, end, text }) => {
    const lines = text.split(/\s*[\r\n]+\s*/).map((line) => line.trim());
    const escaped = lines.filter(Boolean).map(escapeText).join("\n");
    return escaped === "" ? [] : [`${timestamp(start)} --> ${timestamp(end)}\n${escaped}`];
  });
  return `${[header, ...blocks].join("\n\n")}\n`;
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function escapeText(text) {
  return text.replaceAll(/[&<>]/g, (character) => ESCAPES[character]);
}

function timestamp(seconds) {
  const ms = Math.round(seconds * 1000);
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const [hours, minutes] = parts.map((part) => String(part).padStart(2, "0"));
  const rest = ((ms % 60_000) / 1000).toFixed(3).padStart(6, "0");
  return `${hours}:${minutes}:${rest}`;
}
