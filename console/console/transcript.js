import { api, indexPath } from "./api.js";
import { cueAt, findCues, splitMatches } from "./cues.js";
import { el, errorNotice } from "./element.js";
import { draftOf, editTranscript } from "./transcript-editor.js";
import { clock, count } from "./wording.js";

/** Time after a scroll by hand in which the list doesn't follow the video. */
const FOLLOW_AFTER_MS = 4000;

/** Renders the transcript of a video, which follows `video`, seeks it, and can be edited. */
export function openTranscript({ index, id }, video) {
  const body = el("div.stack", { "aria-busy": "true" }, el("p.facts", {}, "Loading…"));
  const root = el("section.transcript.stack", {}, el("h4", {}, "Transcript"), body);
  const path = indexPath(index, `/video/${encodeURIComponent(id)}/transcript`);
  const shown = { stopFollowing: () => {} };

  const load = async () => {
    try {
      const transcript = await api("GET", path);
      if (draftOf(id)) edit(transcript);
      else read(transcript);
    } catch (error) {
      const text = "This video has no transcript.";
      const isMissing = error.status === 404;
      body.replaceChildren(isMissing ? el("p.facts", {}, text) : errorNotice(error, load));
    }
    body.removeAttribute("aria-busy");
  };

  const read = (transcript, message = "") => {
    shown.stopFollowing();
    const { nodes, stop } = readingView(transcript.cues, video);
    shown.stopFollowing = stop;
    const onclick = () => edit(transcript);
    const button = el("button.quiet.faint", { type: "button", onclick }, "Edit transcript");
    body.replaceChildren(...nodes, el("p.actions.calm", {}, button));
    if (message) body.append(el("p.facts", { role: "status" }, message));
    return button;
  };

  const edit = (transcript) => {
    shown.stopFollowing();
    const onClose = (saved, message) => read(saved, message).focus();
    const { nodes, focus } = editTranscript({ id, path, transcript, video, onClose });
    body.replaceChildren(...nodes);
    if (root.isConnected && root.contains(document.activeElement)) focus();
  };

  void load();
  return root;
}

/** Renders a search field and the cues. Their list scrolls to the current cue, not the page. */
function readingView(cues, video) {
  const search = el("input", {
    type: "search",
    "aria-label": "Search the transcript",
    placeholder: "Search the transcript",
    autocomplete: "off",
  });
  const found = el("p.facts", { role: "status" });
  const list = el("ol.cues", { "aria-label": "Cues", tabindex: 0 });
  const items = cues.map((cue) => {
    const text = el("span", { dir: "auto" });
    const onclick = () => {
      video.currentTime = cue.start;
      void video.play();
    };
    const button = el("button.cue", { type: "button", onclick }, time(cue), text);
    return { item: el("li", {}, button), text, cue };
  });
  list.append(...items.map(({ item }) => item));

  const show = () => {
    const term = search.value.trim();
    const positions = new Set(findCues(cues, term));
    for (const [i, { item, text, cue }] of items.entries()) {
      item.hidden = term !== "" && !positions.has(i);
      const parts = splitMatches(cue.text, term);
      text.replaceChildren(...parts.map((part, at) => (at % 2 ? el("mark", {}, part) : part)));
    }
    found.textContent = term === "" ? "" : `${count(positions.size, "line")} found`;
  };
  search.addEventListener("input", show);
  search.addEventListener("search", show);
  search.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") list.querySelector(":scope > li:not([hidden]) button")?.click();
  });
  show();
  return { nodes: [search, found, list], stop: follow({ cues, items, list, search }, video) };
}

/** Marks the cue that is spoken and scrolls to it. Returns a function that ends this. */
function follow({ cues, items, list, search }, video) {
  let current = -1;
  let scrolledAt = -Infinity;
  const onScroll = ({ timeStamp }) => (scrolledAt = timeStamp);
  const update = ({ timeStamp }) => {
    const position = cueAt(cues, video.currentTime);
    if (position === current) return;
    items[current]?.item.removeAttribute("aria-current");
    current = position;
    const item = items[position]?.item;
    item?.setAttribute("aria-current", "true");
    const isReading = search.value !== "" || timeStamp - scrolledAt < FOLLOW_AFTER_MS;
    if (!item || isReading) return;
    list.scrollTop = item.offsetTop - (list.clientHeight - item.offsetHeight) / 2;
  };
  // Only the user's own scrolling sends these events.
  for (const name of ["wheel", "touchmove", "keydown"]) {
    list.addEventListener(name, onScroll, { passive: true });
  }
  for (const name of ["timeupdate", "seeked"]) video.addEventListener(name, update);
  return () => {
    for (const name of ["timeupdate", "seeked"]) video.removeEventListener(name, update);
  };
}

function time({ start }) {
  return el("span.time", {}, clock(start));
}
