import { acceptFiles, acceptUrl } from "./add-forms.js";
import { showAnswer } from "./answer.js";
import { api, indexPath } from "./api.js";
import { openCutListToggle } from "./cut-list-toggle.js";
import { sortFiles } from "./dropped-files.js";
import { confirmAction, fromTemplate, stateBadges } from "./element.js";
import { openExampleField } from "./example-field.js";
import { openLateTranscripts } from "./late-transcripts.js";
import { lazyPage } from "./lazy-page.js";
import { openLibrary } from "./library.js";
import { openNotices } from "./notices.js";
import { readRoute, routeHash } from "./route.js";
import { openSearchOptions } from "./search-options.js";
import { showSearch } from "./search.js";
import { closeStage } from "./stage.js";
import { isFromPlatform, openSources } from "./sources.js";
import { openUploads } from "./uploads.js";
import { formatContents } from "./wording.js";

/** Pages of an index beside its library. */
const PAGES = {
  health: (index) => lazyPage(async () => (await import("./health.js")).openHealth(index)),
  settings: (index) => lazyPage(async () => (await import("./settings.js")).openSettings(index)),
};

/** Opens an index: its library, uploads, imports, search, answers, health and settings. */
export function openWorkspace(index, onDeleted) {
  const parts = fromTemplate("workspace");
  const { root, form, results } = parts;
  parts.name.textContent = index;
  let { view } = readRoute();
  /** Returns the hash of the library as it was last shown. */
  const libraryHash = () => routeHash({ index, view });

  const notices = openNotices(parts.notices);
  const showMessage = (text) => notices.show(text);
  const showError = ({ message }) => notices.show(message, "div.notice.bad");
  const library = openLibrary(
    index,
    { list: parts.assets, more: parts.more, tools: parts.filters },
    {
      view,
      onIndex: (record) =>
        parts.facts.replaceChildren(formatContents(record), stateBadges(record.states)),
      onReady: (asset) => transcripts.onReady(asset),
      onView(chosen) {
        view = chosen;
        history.replaceState(null, "", routeHash({ ...readRoute(), view }));
        parts.tabs.firstElementChild.href = libraryHash();
      },
      onError: showError,
    },
  );
  const transcripts = openLateTranscripts(index, showMessage);
  const uploads = openUploads(index, parts.assets, {
    onAdded(added, card, transcript) {
      if (added.duplicate) showMessage(`This index already has this file, as “${added.title}”.`);
      else if (transcript) transcripts.add(added, transcript);
      library.add(added, card);
    },
    chooseFiles: () => parts.files.click(),
  });

  const addFiles = (files) => {
    const { media, rejected } = sortFiles([...files]);
    rejected.forEach(showMessage);
    for (const item of media) uploads.addFile(item);
    location.hash = libraryHash();
  };
  acceptFiles(parts, addFiles);
  const sources = openSources(index, parts.sources, () => library.loadNew());
  acceptUrl(parts, (url, type, follow) => {
    if (isFromPlatform(type)) void sources.add(url, type, follow);
    else uploads.addUrl(url, type);
  });

  parts.delete.addEventListener("click", async () => {
    const text = `“${index}” and all its videos and images will be deleted permanently.`;
    if (!(await confirmAction("Delete this index?", text, "Delete the index"))) return;
    try {
      await api("DELETE", indexPath(index));
      onDeleted();
      location.hash = "#/";
    } catch (error) {
      showError(error);
    }
  });

  let running = new AbortController();
  let page = "library";
  const example = openExampleField(
    { outlet: parts.example, field: parts.field, chips: parts.tools },
    (chosen) => {
      form.elements.do.value = "search";
      updateForm(parts);
      go(chosen);
    },
  );
  const options = openSearchOptions({ chips: parts.tools, rows: parts.rules }, () =>
    goIfSearching(),
  );
  openCutListToggle(index, { toggle: parts["cut-toggle"], panel: parts["cut-list"] });

  const follow = (route) => {
    running.abort();
    running = new AbortController();
    closeStage();
    const isLibrary = route.page === "library";
    const hasResults = isLibrary && (hasSearch(route) || route.question !== "");
    if (isLibrary && !hasResults) {
      ({ view } = route);
      library.show(view);
    }
    writeForm(parts, route);
    showTab(parts, route, libraryHash());
    example.show(route.example);
    if (hasSearch(route)) options.write(route);
    updateExample(parts, options, route.example);
    // A repair, an import and the settings change what the library has.
    if (isLibrary && page !== "library") void refresh();
    ({ page } = route);
    results.hidden = !hasResults;
    parts.library.hidden = !isLibrary || hasResults;
    if (!isLibrary) parts.page.replaceChildren(PAGES[route.page](index));
    else if (hasSearch(route)) void showSearch(results, route, running.signal);
    else if (route.question) void showAnswer(results, route, running.signal);
  };

  const go = (chosen = example.read()) => {
    const route = readForm(index, form);
    if (!route.question) Object.assign(route, options.read() ?? { isInvalid: true });
    if (route.isInvalid) return;
    if (!route.question) route.example = chosen;
    // A search by a clip has no words.
    if (chosen?.kind === "clip" || chosen?.kind === "range") route.query = "";
    const hash = routeHash({ ...route, view });
    if (hash === location.hash) follow(readRoute());
    else location.hash = hash;
  };
  const goIfSearching = () => {
    const isAsking = form.elements.do.value === "ask";
    if (!isAsking && (form.elements.text.value.trim() || example.read())) go();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  form.addEventListener("change", ({ target }) => {
    if (target.name === "do") updateForm(parts);
    else if (target.name !== "text") goIfSearching();
  });
  // Clearing the search field leads back to the library.
  form.addEventListener("search", () => form.elements.text.value === "" && go());

  const refresh = () => {
    void sources.load();
    void uploads.showUnfinished();
    return library.load();
  };
  const isUploading = () => uploads.isRunning() || transcripts.isWaiting();
  return { root, follow, refresh, isUploading, stop: () => uploads.stopAll() };
}

/** Shows the page of a route, and marks its tab. */
function showTab({ tabs, searching, page }, { index, page: current }, libraryHash) {
  for (const link of tabs.querySelectorAll("a")) {
    const { page: name } = link.dataset;
    link.href = name === "library" ? libraryHash : routeHash({ index, page: name });
    if (name === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  searching.hidden = current !== "library";
  page.hidden = current === "library";
  page.replaceChildren();
}

function readForm(index, form) {
  const { elements } = form;
  const text = elements.text.value.trim();
  if (elements.do.value === "ask") return { index, question: text };
  const modes = [...elements.mode].filter(({ checked }) => checked).map(({ value }) => value);
  const [boxes, masks] = [elements.boxes.checked, elements.masks.checked];
  return { index, query: text, modes, boxes, masks };
}

function hasSearch({ query, example }) {
  return query !== "" || example !== null;
}

function writeForm(parts, route) {
  const { query, question, modes, boxes, masks } = route;
  const { elements } = parts.form;
  elements.text.value = query || question;
  if (hasSearch(route) || question) elements.do.value = question ? "ask" : "search";
  if (hasSearch(route)) {
    for (const box of elements.mode) box.checked = modes.includes(box.value);
    elements.boxes.checked = boxes;
    elements.masks.checked = masks;
  }
  updateForm(parts);
}

/** Hides the options that the API doesn't have for a search by a file. */
function updateExample({ form, "file-note": note }, options, example) {
  const isFile = example !== null && example.kind !== "similar";
  const isImage = example?.kind === "image";
  for (const name of ["boxes", "masks"]) form.elements[name].disabled = isFile;
  for (const box of form.elements.mode) box.disabled = isFile && !isImage;
  form.elements.text.disabled = isFile && !isImage;
  options.setFilterHidden(isFile);
  note.hidden = !isFile;
  note.textContent = isImage
    ? "A search by an image can have words beside it. Filters, boxes and masks don't apply."
    : "A search by a clip has no words, filters, boxes or masks.";
}

/** Updates labels and options to the form's mode, search or ask. */
function updateForm({ form, go, chips, example, rules }) {
  const isAsking = form.elements.do.value === "ask";
  go.textContent = isAsking ? "Ask" : "Search";
  for (const part of [chips, example, rules]) part.hidden = isAsking;
  form.elements.text.placeholder = isAsking
    ? "Why did the carpenter leave?"
    : "A boat, a spoken word, a line on a sign…";
  form.querySelector("label[for=text]").textContent = isAsking
    ? "Ask this index"
    : "Search this index";
}
