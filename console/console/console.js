import { hasKey, signIn, signOut } from "./api.js";
import { el, fromTemplate, restoreFocus } from "./element.js";
import { openIndices } from "./indices.js";
import { readRoute } from "./route.js";
import { closeStage } from "./stage.js";
import { clearStoredUploads } from "./stored-uploads.js";
import { openWorkspace } from "./workspace.js";

const main = document.getElementById("main");
const all = document.getElementById("all");
const leave = document.getElementById("sign-out");

/** Open workspaces by index. They live as long as the page: uploads continue in the background. */
const workspaces = new Map();

function show() {
  if (!hasKey()) return showSignIn();
  const route = readRoute();
  leave.hidden = false;
  all.hidden = !route.index;
  document.title = route.index ? `${route.index} · Sightline` : "Sightline";
  if (!route.index) return main.replaceChildren(openIndices());
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

function showSignIn(message) {
  leave.hidden = true;
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
      await signIn(form.elements.key.value.trim(), form.elements.remember.checked);
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
}

function endSession(message) {
  signOut();
  for (const workspace of workspaces.values()) workspace.stop();
  workspaces.clear();
  showSignIn(message);
}

leave.addEventListener("click", () => {
  clearStoredUploads();
  endSession();
});
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
  const isTyping = event.target.closest?.("input:not([type=radio], [type=checkbox]), select");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = main.querySelector("#text");
  if (!field) return;
  event.preventDefault();
  field.select();
});

function isSigningIn() {
  return main.querySelector(".sign-in") !== null;
}

show();
