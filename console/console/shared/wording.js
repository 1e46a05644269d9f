/** Formats seconds: 75.2 → "1:15", 3675 → "1:01:15". */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const end = String(whole % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${end}` : `${minutes}:${end}`;
}

/** Characters that are twice as wide as Latin ones, or about so. */
const WIDE = /[\u1100-\u115f\u2e80-\ud7ff\uf900-\ufaff\ufe30-\uff60]|\p{Extended_Pictographic}/u;
/** Width of a title that is shown whole, and of the parts of a longer one, in Latin characters. */
const TITLE_WIDTH = { whole: 52, start: 30, end: 18 };

/** Shortens a long title in its middle, because names often differ at their ends. */
export function shortenMiddle(title) {
  const parts = [...new Intl.Segmenter().segment(title)].map(({ segment }) => segment);
  if (takeWidth(parts, TITLE_WIDTH.whole) === parts.length) return title;
  const start = parts.slice(0, takeWidth(parts, TITLE_WIDTH.start));
  const end = parts.slice(-takeWidth(parts.toReversed(), TITLE_WIDTH.end));
  return `${start.join("").trimEnd()}…${end.join("").trimStart()}`;
}

/** Counts the first parts that are no wider than `width` together. */
function takeWidth(parts, width) {
  let [taken, used] = [0, 0];
  while (taken < parts.length) {
    used += WIDE.test(parts[taken]) ? 2 : 1;
    if (used > width) break;
    taken++;
  }
  return taken;
}

/** Formats the time range of a moment; null for an image. */
export function range({ start_seconds: start, end_seconds: end }) {
  return start === null ? null : `${clock(start)}–${clock(end)}`;
}

export function bytes(size) {
  if (size < 1000) return `${size} B`;
  const power = Math.min(4, Math.floor(Math.log10(size) / 3));
  const value = size / 1000 ** power;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${["kB", "MB", "GB", "TB"][power - 1]}`;
}

/** Formats a share, rounded down so that only all of it is 100 %: 0.437 → "43 %". */
export function percent(share) {
  return `${Math.floor(share * 100)} %`;
}

/** Hits with a higher score are more likely relevant than not. */
export const LIKELY_SCORE = 0.5;

/** Says in words what a score means, the probability that a hit is relevant. */
export function likelihoodOf(score) {
  if (score >= 0.8) return "Very likely";
  if (score > LIKELY_SCORE) return "Likely";
  return score >= 0.1 ? "Possible" : "Unlikely";
}

/** Says what a search response's `calibration` means for its scores; "" for the usual one. */
export function calibrationNote(calibration) {
  return calibration === "borrowed"
    ? "Percentages put the results in order, but aren't exact: this service wasn't calibrated for its models."
    : "";
}

/** Says in words how sure a detection is, from its score. */
export function certaintyOf(score) {
  if (score >= 0.8) return "certain";
  return score >= 0.5 ? "fairly certain" : "uncertain";
}

/** Says in words which hits a lowest score leaves over. */
export function breadthOf(topP) {
  if (topP === 0) return "Everything";
  const name =
    topP >= 0.8
      ? "Very likely only"
      : topP >= LIKELY_SCORE
        ? "Likely only"
        : "Without unlikely ones";
  return `${name} (from ${percent(topP)})`;
}

/** Says how well a hit matches the search for a question that it doesn't answer. */
export function searchMatchOf({ score }) {
  return `Matches the search to ${percent(score)}`;
}

/** Says who wrote an answer, from the model's id. */
export function authorOf(model) {
  return model === "extractive"
    ? "Quoted from your videos and images, without a language model."
    : `Written from these sources by the model ${model}. It can be wrong: play the sources.`;
}

/** Formats a count: (1, "video") → "1 video", (1200, "video") → "1,200 videos". */
export function count(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/** Formats a moment in time (RFC 3339) in the user's language and time zone. */
export function dateTime(time) {
  return new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** Formats the contents of an index in one line. */
export function formatContents({ counts, duration_seconds: seconds, size_bytes: size }) {
  if (counts.videos + counts.images === 0) return "Empty";
  return [
    counts.videos > 0 && count(counts.videos, "video"),
    counts.images > 0 && count(counts.images, "image"),
    count(counts.segments, "moment"),
    seconds > 0 && clock(seconds),
    bytes(size),
  ]
    .filter(Boolean)
    .map((fact) => fact.replaceAll(" ", "\u00a0"))
    .join(" · ");
}

/** Labels of the states of an asset. */
export const STATES = {
  queued: "Waiting",
  fetching: "Fetching",
  probing: "Reading the file",
  segmenting: "Detecting shots",
  transcribing: "Recognising speech",
  describing: "Analysing images",
  embedding: "Indexing",
  ready: "Ready",
  failed: "Failed",
};

/** Labels of the kinds of evidence, and the text of a segment that each kind is based on. */
export const EVIDENCE = {
  visual: { name: "Visual", textOf: ({ labels }) => labels.join(", ") || "The image itself" },
  caption: { name: "Caption", textOf: ({ caption }) => caption },
  speech: { name: "Speech", textOf: ({ transcript }) => transcript },
  text: { name: "On-screen text", textOf: ({ on_screen_text: text }) => text },
  title: { name: "Title", textOf: ({ title }) => title },
  description: { name: "Description", textOf: ({ title }) => title },
};
