import { indexPath } from "./api-path.js";
import { api } from "./api.js";
import { shape } from "./element.js";

/** Half of the height of the drawing, and the least of an amplitude, in its own units. */
const [MIDDLE, MIN_HEIGHT] = [50, 0.5];

/** What is known of videos, by asset: cards and the player of one asset read it once. */
const sounds = new Map();

/**
 * Reads the length in seconds and the waveform (amplitudes from 0 to 1, or null) of sound. Resolves
 * to null for a video with pictures, and if it can't be read.
 */
export function readSound({ index, id }) {
  const stored = sounds.get(id) ?? request(index, id);
  sounds.set(id, stored);
  return stored;
}

async function request(index, id) {
  try {
    const path = indexPath(index, ["video", id]);
    const { has_video: hasVideo, duration_seconds: seconds, technical } = await api("GET", path);
    return hasVideo === false ? { seconds, waveform: technical.waveform ?? null } : null;
  } catch {
    sounds.delete(id); // the next card tries again
    return null;
  }
}

/** Draws a waveform, with the part from `start` to `end` (seconds, or null for all) marked. */
export function waveformShape({ waveform, seconds }, { start = null, end = null } = {}) {
  const width = waveform.length;
  const d = waveform
    .map((peak, x) => {
      const height = Math.max(MIN_HEIGHT, peak * (MIDDLE - 2));
      return `M${x + 0.5} ${MIDDLE - height}v${2 * height}`;
    })
    .join("");
  const box = { viewBox: `0 0 ${width} ${2 * MIDDLE}`, preserveAspectRatio: "none" };
  const svg = shape("svg", { ...box, class: "waveform", "aria-hidden": "true" });
  if (start !== null) {
    const [x, right] = [start, end].map((time) => (time / seconds) * width);
    svg.append(shape("rect", { x, y: 0, width: right - x, height: 2 * MIDDLE }));
  }
  svg.append(shape("path", { d }));
  return svg;
}
