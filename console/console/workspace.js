import { openCutListToggle } from "./cut-list/cut-list-toggle.js";
import { apiNameOf, indexTitle } from "./library/index-title.js";
import { openLibrary } from "./library/library.js";
import { unheardNote } from "./library/unheard-note.js";
import { closeStage } from "./player/stage.js";
import { openSearchForm } from "./search/search-form.js";
import { hasSearch } from "./search/search-state.js";
import { messageOf, OFFLINE } from "./shared/api-error.js";
import { indexPath } from "./shared/api-path.js";
import { api } from "./shared/api.js";
import { confirmAction, el, errorNotice, fromTemplate, stateBadges } from "./shared/element.js";
import { lazyPage } from "./shared/lazy-page.js";
import { openNotices } from "./shared/notices.js";
import { readRoute, routeHash } from "./shared/route.js";
import { formatContents } from "./shared/wording.js";
import { acceptFiles, acceptUrl } from "./uploads/add-forms.js";
import { sortFiles } from "./uploads/dropped-files.js";
import { openLateTranscripts } from "./uploads/late-transcripts.js";
import { openPresentFiles } from "./uploads/present-files.js";
import { isFromPlatform, openSources } from "./uploads/sources.js";
import { openUploads } from "./uploads/uploads.js";

/** Pages of an index beside its library. */
const PAGES = {
  watches: (index, route) =>
    lazyPage(async () => (await import("./watches/pages.js")).openWatchPage(index, route)),
  quality: (index) =>
    lazyPage(async () => (await import("./judgments/quality.js")).openQuality(index)),
  health: (index) =>
    lazyPage(async () => (await import("./administration/health.js")).openHealth(index)),
  settings: (index) =>
    lazyPage(async () => (await import("./administration/settings.js")).openSettings(index)),
};

/** Opens an index: its library, uploads, imports, search, answers, health and settings. */
export function openWorkspace(index, onDeleted) {
  const parts = fromTemplate("workspace");
  const { root, results } = parts;
  parts.name.textContent = index;
  let { view } = readRoute();
  /** The route whose results are shown; null without any. */
  let shown = null;
  /** The page that is open; "asset" for that of a video or an image. */
  let page = "library";
  /** Returns the hash of the library as it was last shown. */
  const libraryHash = () => routeHash({ index, view });

  const notices = openNotices(parts.notices);
  const showMessage = (text) => notices.show(text);
  const showError = (error) => {
    notices.show(messageOf(error), { name: "div.notice.bad" });
    parts.notices.scrollIntoView({ block: "nearest" });
  };
  /** Says above a library or a search which videos have sound without a transcript. */
  const showUnheard = () => {
    const unheard = page === "library" ? library.listUnheard() : [];
    parts.unheard.hidden = unheard.length === 0;
    parts.unheard.replaceChildren(...unheardNote(index, unheard));
  };
  /** Says that there is no such index. It is opened anew when the page is next at it. */
  const showMissing = () => {
    const link = el("a", { href: "#/" }, "All indices");
    root.replaceChildren(el("h1", {}, `There is no index named “${index}”`), el("p", {}, link));
    onDeleted();
  };
  const library = openLibrary(
    index,
    { list: parts.assets, more: parts.more, tools: parts.filters },
    {
      view,
      onIndex(record) {
        parts.name.textContent = indexTitle(record);
        const facts = [formatContents(record), apiNameOf(record)].filter(Boolean).join(" · ");
        parts.facts.replaceChildren(facts, stateBadges(record.states));
        showUnheard();
      },
      onMissing: showMissing,
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
  const present = openPresentFiles(notices);
  const uploads = openUploads(index, parts.assets, {
    onAdded(added, card, transcript) {
      if (added.duplicate && !transcript) present.add(added.title);
      else if (transcript) transcripts.add(added, transcript);
      library.add(added, card);
    },
    chooseFiles: () => parts.files.click(),
  });

  const addFiles = (files) => {
    const { media, rejected, transcripts: alone } = sortFiles(files);
    present.reset();
    if (files.length === 0) showMessage("This folder has no files.");
    rejected.forEach(showMessage);
    for (const item of media) uploads.addFile(item);
    for (const transcript of alone) void transcripts.addByName(transcript);
    location.hash = libraryHash();
  };
  acceptFiles(parts, addFiles, showError);
  const sources = openSources(index, parts.sources, () => library.loadNew());
  acceptUrl(parts, (url, type, follow) => {
    if (isFromPlatform(type)) void sources.add(url, type, follow);
    else uploads.addUrl(url, type);
  });

  parts.delete.addEventListener("click", async () => {
    const text = `“${parts.name.textContent}” and all its videos and images will be deleted permanently.`;
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
  const searchForm = openSearchForm(index, parts, {
    getView: () => view,
    onRepeat: () => follow(readRoute()),
  });
  const cutList = openCutListToggle(index, {
    toggle: parts["cut-toggle"],
    panel: parts["cut-list"],
  });

  const follow = (route) => {
    running.abort();
    running = new AbortController();
    closeStage();
    const isLibrary = route.page === "library";
    if (!isLibrary) cutList.close(); // its button is beside the search field
    const hasResults =
      isLibrary && (hasSearch(route) || route.question !== "" || route.asset !== "");
    if (isLibrary && !hasResults) {
      ({ view } = route);
      library.show(view);
    }
    searchForm.write(route);
    showTab(parts, route, libraryHash());
    // A repair, an import, the settings and the page of an asset change what the library has.
    if (isLibrary && page !== "library" && !route.asset) void refresh();
    page = route.asset ? "asset" : route.page;
    results.hidden = !hasResults;
    root.classList.toggle("finding", hasResults);
    parts.library.hidden = !isLibrary || hasResults;
    const hasSameSearch = isRefinedOtherwise(route, shown);
    shown = hasResults ? route : null;
    showUnheard();
    if (!isLibrary) parts.page.replaceChildren(PAGES[route.page](index, route));
    else if (hasResults) void showResults(route, running.signal, hasSameSearch);
  };

  /** Shows an answer or results of a search. What shows them is loaded when it is first needed. */
  const showResults = async (route, signal, hasSameSearch) => {
    if (!hasSameSearch)
      results.replaceChildren(el("p.facts", {}, route.asset ? "Loading…" : "Searching…"));
    try {
      const show = await loadResults(route);
      if (!signal.aborted) await show(results, route, signal);
    } catch {
      results.replaceChildren(errorNotice({ message: OFFLINE }, () => location.reload()));
    }
  };

  const refresh = () => {
    void sources.load();
    void uploads.showUnfinished();
    return library.load();
  };
  const isUploading = () => uploads.isRunning() || transcripts.isWaiting();
  return { root, follow, refresh, isUploading, stop: () => uploads.stopAll() };
}

/** Returns whether two routes differ only in what refines their search. */
function isRefinedOtherwise(route, shown) {
  if (shown === null || routeHash(route) === routeHash(shown)) return false;
  const [hash, shownHash] = [route, shown].map((one) =>
    routeHash({ ...one, refined: "", layout: "" }),
  );
  return hash === shownHash;
}

/** Loads the function that shows an answer, the video or image of a link, or a search. */
async function loadResults({ question, asset }) {
  if (question) return (await import("./search/answer.js")).showAnswer;
  if (asset) return (await import("./library/linked-asset.js")).showLinkedAsset;
  return (await import("./search/search.js")).showSearch;
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
