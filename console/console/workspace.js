import { showAnswer } from "./answer.js";
import { api, indexPath } from "./api.js";
import { mediaType, sortFiles } from "./dropped-files.js";
import { confirmed, el, fromTemplate, problem, stateBadges } from "./element.js";
import { openLibrary } from "./library.js";
import { routeHash } from "./route.js";
import { showSearch } from "./search.js";
import { closeStage } from "./stage.js";
import { isFromPlatform, openSources } from "./sources.js";
import { openUploads } from "./uploads.js";
import { holdings } from "./wording.js";

/** One index: what it holds, what goes into it, and what is found in it. `onDeleted` is called once it is gone. */
export function openWorkspace(index, onDeleted) {
  const parts = fromTemplate("workspace");
  const { root, form, found } = parts;
  parts.name.textContent = index;

  const tell = (...messages) => {
    const dismiss = el("button.close", { type: "button", "aria-label": "Dismiss" }, "×");
    dismiss.addEventListener("click", () => parts.notices.replaceChildren());
    const lines = messages.map((message) => el("p", {}, message));
    parts.notices.replaceChildren(el("div.notice", {}, lines, dismiss));
  };
  const library = openLibrary(index, {
    list: parts.assets,
    more: parts.more,
    onIndex: (record) => parts.facts.replaceChildren(holdings(record), stateBadges(record.states)),
    onProblem: (error) => tell(error.message),
  });
  const uploads = openUploads(index, parts.assets, (added, card) => {
    if (added.duplicate) tell(`This index holds the same file already, as “${added.title}”.`);
    library.add(added, card);
  });

  const addFiles = (files) => {
    const { media, refused } = sortFiles([...files]);
    if (refused.length > 0) tell(...refused);
    for (const item of media) uploads.addFile(item);
    location.hash = routeHash({ index });
  };
  acceptFiles(parts, addFiles);
  const sources = openSources(index, parts.sources, () => library.load());
  acceptUrl(parts, (url, type, follow) => {
    if (isFromPlatform(type)) void sources.add(url, type, follow);
    else uploads.addUrl(url, type);
  });

  parts.delete.addEventListener("click", async () => {
    const text = `“${index}”, and all videos and images in it, will be gone for good.`;
    if (!(await confirmed("Delete this index?", text, "Delete the index"))) return;
    try {
      await api("DELETE", indexPath(index));
      onDeleted();
      location.hash = "#/";
    } catch (error) {
      parts.notices.replaceChildren(problem(error));
    }
  });

  let running = new AbortController();
  const follow = (route) => {
    running.abort();
    running = new AbortController();
    closeStage();
    writeForm(parts, route);
    const isLooking = route.query !== "" || route.question !== "";
    found.hidden = !isLooking;
    parts.library.hidden = isLooking;
    if (route.query) void showSearch(found, route, running.signal);
    else if (route.question) void showAnswer(found, route, running.signal);
  };

  const go = () => {
    const route = readForm(index, form);
    const hash = routeHash(route);
    if (hash === location.hash) follow({ index, query: "", question: "", ...route });
    else location.hash = hash;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  form.addEventListener("change", ({ target }) => {
    if (target.name === "do") dress(parts);
    else if (target.name !== "text" && form.elements.text.value.trim()) go();
  });
  // Emptying the field, also by its own cross, leads back to the library.
  form.addEventListener("search", () => form.elements.text.value === "" && go());

  const refresh = () => {
    void sources.load();
    return library.load();
  };
  return { root, follow, refresh, isUploading: () => uploads.isRunning() };
}

function readForm(index, form) {
  const { elements } = form;
  const text = elements.text.value.trim();
  if (elements.do.value === "ask") return { index, question: text };
  const modes = [...elements.mode].filter(({ checked }) => checked).map(({ value }) => value);
  return { index, query: text, modes, boxes: elements.boxes.checked };
}

function writeForm(parts, { query, question, modes, boxes }) {
  const { elements } = parts.form;
  elements.text.value = query || question;
  if (query || question) elements.do.value = question ? "ask" : "search";
  if (query) {
    for (const box of elements.mode) box.checked = modes.includes(box.value);
    elements.boxes.checked = boxes;
  }
  dress(parts);
}

/** Words and options for what the form does now. */
function dress({ form, go, chips }) {
  const isAsking = form.elements.do.value === "ask";
  go.textContent = isAsking ? "Ask" : "Search";
  chips.hidden = isAsking;
  form.elements.text.placeholder = isAsking
    ? "Why did the carpenter leave?"
    : "A boat, a word that is said, a line on a sign…";
  form.querySelector("label[for=text]").textContent = isAsking
    ? "Ask this index"
    : "Search this index";
}

function acceptFiles({ root, files }, addFiles) {
  files.addEventListener("change", () => {
    addFiles(files.files);
    files.value = "";
  });
  const over = (isOver) => root.classList.toggle("dragging", isOver);
  const listen = (name, listener) =>
    document.addEventListener(name, (event) => {
      if (!root.isConnected || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      listener(event);
    });
  listen("dragover", () => over(true));
  listen("dragleave", ({ relatedTarget }) => relatedTarget === null && over(false));
  listen("drop", ({ dataTransfer }) => {
    over(false);
    addFiles(dataTransfer.files);
  });
}

const PLACEHOLDERS = {
  page: "https://peertube.example/w/…",
  playlist: "https://peertube.example/c/channel",
  profile: "@name@pixelfed.example, or https://…",
  search: "tide pools at night",
};

function acceptUrl({ url: form, "from-url": toggle, follow: tick }, addUrl) {
  const { url, type, follow } = form.elements;
  const open = (isOpen) => {
    form.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
    (isOpen ? url : toggle).focus();
  };
  toggle.addEventListener("click", () => open(form.hidden));
  url.addEventListener("input", () => {
    const name = URL.canParse(url.value) ? new URL(url.value).pathname : "";
    type.value = mediaType({ name }) ?? type.value;
    dressUrl();
  });
  const dressUrl = () => {
    tick.hidden = !isFromPlatform(type.value) || type.value === "page";
    url.placeholder = PLACEHOLDERS[type.value] ?? "https://…";
  };
  type.addEventListener("change", dressUrl);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    addUrl(url.value.trim(), type.value, follow.checked && !tick.hidden);
    form.reset();
    dressUrl();
    open(false);
  });
}
