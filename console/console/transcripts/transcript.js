import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice } from "../shared/element.js";
import { clock, count } from "../shared/wording.js";
import { cueAt, findCues, splitMatches } from "./cues.js";
import { draftOf, editTranscript } from "./transcript-editor.js";
import { downloadButtons, uploadButton } from "./transcript-files.js";

/** Time after a scroll by hand in which the list doesn't follow the video. */
const FOLLOW_AFTER_MS = 4000;

/** Renders the transcript of a video, which follows `video`, seeks it, and can be edited. */
export function openTranscript({ index, id, title }, video) {
  const body = el("div.stack", { "aria-busy": "true" }, el("p.facts", {}, "Loading…"));
  const root = el("section.transcript.stack", {}, el("h4", {}, "Transcript"), body);
  const path = indexPath(index, ["video", id, "transcript"]);
  const shown = { stopFollowing: () => {} };
  const button = (label, onclick) => el("button.quiet.faint", { type: "button", onclick }, label);

  const load = async (message = "") => {
    try {
      const transcript = await readTranscript(path);
      if (draftOf(id)) edit(transcript);
      else if (transcript.cues.length === 0) offer(message);
      else read(transcript, message);
    } catch (error) {
      body.replaceChildren(errorNotice(error, () => load(message)));
    }
    body.removeAttribute("aria-busy");
  };
  const onSaved = async () => {
    await load("Saved. Searches use the new transcript.");
    body.querySelector("[data-edit]")?.focus();
  };

  /** Offers to write a transcript, or to upload one. */
  const offer = () => {
    shown.stopFollowing();
    const outcome = el("div", { role: "alert" });
    const write = button("Write one", () => edit(NO_TRANSCRIPT));
    write.dataset.edit = "";
    const hint = "This video has no transcript. Write one line by line, or upload a file: ";
    body.replaceChildren(
      el("p.facts", {}, `${hint}SRT, WebVTT, JSON or plain text.`),
      el("p.actions.calm", {}, write, uploadButton({ path, isNew: true, outcome, onSaved })),
      outcome,
    );
  };

  const read = (transcript, message) => {
    shown.stopFollowing();
    const { nodes, stop } = readingView(transcript.cues, video);
    shown.stopFollowing = stop;
    const outcome = el("div", { role: "alert" });
    const editButton = button("Edit transcript", () => edit(transcript));
    editButton.dataset.edit = "";
    body.replaceChildren(
      ...nodes,
      el("p.actions.calm", {}, editButton, uploadButton({ path, isNew: false, outcome, onSaved })),
      el(
        "p.actions.calm.downloads",
        {},
        el("span.facts", {}, "Download"),
        downloadButtons({ path, title, outcome }),
      ),
      outcome,
    );
    if (message) body.append(el("p.facts", { role: "status" }, message));
  };

  const edit = (transcript) => {
    shown.stopFollowing();
    const onCancel = async () => {
      await load();
      body.querySelector("[data-edit]")?.focus();
    };
    const { nodes, focus } = editTranscript({ id, path, transcript, video, onSaved, onCancel });
    const hadFocus = body.contains(document.activeElement);
    body.replaceChildren(...nodes);
    if (hadFocus) focus();
  };

  void load();
  return root;
}

const NO_TRANSCRIPT = { cues: [], language: null };

/** Reads a transcript; one without cues if the video has none. */
async function readTranscript(path) {
  try {
    return await api("GET", path);
  } catch (error) {
    if (error.status !== 404) throw error;
    return NO_TRANSCRIPT;
  }
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
