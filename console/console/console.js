import { clearCutLists, hasCutList } from "./cut-list/stored-cut-list.js";
import { closeStage } from "./player/stage.js";
import { hasSearch } from "./search/search-state.js";
import { hasKey, signIn, signOut } from "./shared/api.js";
import { confirmAction, el, fromTemplate, restoreFocus } from "./shared/element.js";
import { lazyPage } from "./shared/lazy-page.js";
import { readRoute } from "./shared/route.js";
import { keyOf, takeLinkedKey } from "./shared/sign-in-link.js";
import { clearStoredUploads } from "./uploads/stored-uploads.js";

const main = document.getElementById("main");
const all = document.getElementById("all");
const account = document.getElementById("account");
const menu = document.getElementById("account-menu");
const leave = document.getElementById("sign-out");

/** Pages without an index. */
const PAGES = {
  indices: {
    title: "",
    open: () => lazyPage(async () => (await import("./library/indices.js")).openIndices()),
  },
  stats: {
    title: "Statistics",
    open: () => lazyPage(async () => (await import("./administration/stats.js")).openStats()),
  },
  keys: {
    title: "API keys",
    open: () => lazyPage(async () => (await import("./administration/keys.js")).openKeys()),
  },
  jobs: {
    title: "Jobs",
    open: () => lazyPage(async () => (await import("./administration/jobs.js")).openJobs()),
  },
};
const TABS = {
  library: "",
  watches: "Watches",
  health: "Health",
  settings: "Settings",
  quality: "Quality",
};

/** Opens an index; null until what shows it is loaded. */
let openWorkspace = null;
/** Open workspaces by index. They live as long as the page: uploads continue in the background. */
const workspaces = new Map();

function show() {
  const linked = takeLinkedKey();
  if (linked !== null) {
    closeWorkspaces();
    return showSignIn("", linked);
  }
  if (!hasKey()) return showSignIn();
  const route = readRoute();
  account.hidden = false;
  all.hidden = route.page === "indices";
  document.title = titleOf(route);
  if (!route.index) return main.replaceChildren(PAGES[route.page].open());
  if (!openWorkspace) return main.replaceChildren(lazyPage(loadWorkspace));
  let workspace = workspaces.get(route.index);
  if (!workspace) {
    workspace = openWorkspace(route.index, () => workspaces.delete(route.index));
    workspaces.set(route.index, workspace);
  }
  if (main.firstElementChild !== workspace.root) {
    main.replaceChildren(workspace.root);
    void workspace.refresh();
  }
  workspace.follow(route);
}

async function loadWorkspace() {
  if (hasSearch(readRoute())) void import("./search/search.js"); // at once, instead of afterwards
  ({ openWorkspace } = await import("./workspace.js"));
  show();
  return "";
}

function titleOf({ index, page }) {
  const names = index ? [TABS[page], index] : [PAGES[page].title];
  return [...names, "Sightline"].filter(Boolean).join(" · ");
}

/** Shows the form for the key. A key of a link is filled in, and sent if the service is local. */
function showSignIn(message, linked = null) {
  account.hidden = true;
  all.hidden = true;
  document.title = "Sign in · Sightline";
  const { root, error: errorBox } = fromTemplate("sign-in");
  const form = root.querySelector("form");
  const showError = (text) => errorBox.replaceChildren(el("p.notice.bad", {}, text));
  if (message) showError(message);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      await signIn(keyOf(form.elements.key.value), form.elements.remember.checked);
      show();
      restoreFocus();
    } catch (error) {
      showError(error.message);
      form.elements.key.select();
    }
    button.disabled = false;
  });
  main.replaceChildren(root);
  form.elements.key.focus();
  if (linked === null) return;
  form.elements.key.value = linked.key;
  if (linked.isLocal) form.requestSubmit();
}

function endSession(message) {
  signOut();
  closeWorkspaces();
  showSignIn(message);
}

/** Stops what an account does in its indices. */
function closeWorkspaces() {
  for (const workspace of workspaces.values()) workspace.stop();
  workspaces.clear();
}

menu.addEventListener("click", ({ target }) => target.closest("a, button") && menu.hidePopover());
leave.addEventListener("click", () => void leaveAccount());

async function leaveAccount() {
  const text = "The cut list in this browser isn't stored anywhere else: export it to keep it.";
  if (hasCutList() && !(await confirmAction("Discard the cut list?", text, "Sign out"))) return;
  clearStoredUploads();
  clearCutLists();
  void import("./search/viewed-moments.js").then(({ clearViewed }) => clearViewed());
  endSession();
}

window.addEventListener(
  "unauthorized",
  ({ detail }) => hasKey() && !isSigningIn() && endSession(detail.message),
);
window.addEventListener("hashchange", () => {
  show();
  restoreFocus();
});
window.addEventListener("beforeunload", (event) => {
  if ([...workspaces.values()].some((workspace) => workspace.isUploading())) event.preventDefault();
});

window.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) closeStage();
  const isTyping = event.target.closest?.(
    "input:not([type=radio], [type=checkbox]), select, textarea",
  );
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") void showKeys();
  if (event.key !== "/") return;
  const field = main.querySelector("#text");
  if (!field?.checkVisibility()) return;
  event.preventDefault();
  field.select();
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash is the route
  (main.querySelector(".card.moment button.over") ?? main).focus();
});
document.getElementById("keys-help").addEventListener("click", () => void showKeys());

async function showKeys() {
  (await import("./shared/keyboard-help.js")).openKeyboardHelp();
}

function isSigningIn() {
  return main.querySelector(".sign-in") !== null;
}

show();
