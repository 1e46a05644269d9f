import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice } from "../shared/element.js";
import { clock, count } from "../shared/wording.js";

/** Moments that are read at once. */
const PAGE = 100;

/**
 * Renders the moments of a video, which seek `video`, and what `captionNote` says of their captions.
 * They are closed beside a moment that was found, and read when they are opened.
 */
export function openMoments({ index, id, start }, video, captionNote) {
  const list = el("ol.cues", { "aria-label": "Moments", tabindex: 0 });
  const more = el("div", {}, el("p.facts", {}, "Loading…"));
  const notes = el("div");
  const summary = el("summary", {}, "Moments of this video");
  const body = el("div.stack.moments", {}, list, more, notes);
  const root = el("details.rest", { open: start === null }, summary, body);
  let isRead = false;

  const load = async (cursor) => {
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    const path = indexPath(index, ["video", id, "segments"], query);
    try {
      const { segments, total, next_cursor: next } = await api("GET", path);
      summary.textContent = count(total, "moment");
      list.append(...segments.map((segment) => momentItem(segment, video)));
      if (!notes.firstChild) notes.append(...captionNote(segments));
      const onclick = () => load(next);
      const button = el("button.quiet", { type: "button", onclick }, "Show more moments");
      more.replaceChildren(...(next ? [button] : []));
    } catch (error) {
      more.replaceChildren(errorNotice(error, () => load(cursor)));
    }
  };

  root.addEventListener("toggle", () => {
    if (!isRead) void load();
    isRead = true;
  });
  return root;
}

function momentItem(segment, video) {
  const { start_seconds: start, end_seconds: end } = segment;
  const onclick = () => {
    video.currentTime = start;
    void video.play();
  };
  const time = el("span.time", {}, `${clock(start)}–${clock(end)}`);
  const text = el("span", { dir: "auto" }, describe(segment));
  return el("li", {}, el("button.cue", { type: "button", onclick }, time, text));
}

/** Describes a moment by what is known of it: its caption, its speech, its text or its labels. */
function describe({ caption, transcript, on_screen_text: text, labels }) {
  return caption || transcript || text || labels.join(", ") || "Nothing was recognised.";
}
