import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { openMatches } from "./match-list.js";
import { watchActions } from "./watch-actions.js";
import { factsOf, pausedBadge } from "./watch-list.js";

/** Opens a watch: what it looks for, and its matches. */
export function openWatch(index, id) {
  const href = routeHash({ index, page: "watches" });
  const header = el("div.stack.tight", {}, el("p.facts", {}, "Loading…"));
  const content = el("div.stack");
  let record = null;
  const preview = previewSection(
    () => record,
    (changed) => draw(changed),
  );
  const root = el("section.stack", {}, el("a", { href }, "All watches"), header, preview, content);

  const draw = (newer) => {
    const hadFocus = [...header.querySelectorAll("button")].indexOf(document.activeElement);
    record = newer;
    const problem = el("div", { role: "alert" });
    const actions = watchActions(record, {
      onChange: draw,
      onDeleted: () => (location.hash = href),
      onError: (error) => problem.replaceChildren(...(error ? [errorNotice(error)] : [])),
    });
    header.replaceChildren(
      el("div.row", {}, el("h2", { dir: "auto" }, record.name), ...pausedBadge(record)),
      el("p.facts.break", {}, factsOf(record)),
      actions,
      ...webhookFacts(record),
      problem,
    );
    if (hadFocus >= 0) header.querySelectorAll("button")[hadFocus].focus();
  };

  const load = async () => {
    try {
      draw(await api("GET", indexPath(index, ["watches", id])));
      const onCount = (matches) => matches !== record.matches && draw({ ...record, matches });
      preview.hidden = false;
      content.replaceChildren(openMatches(index, id, onCount));
    } catch (error) {
      header.replaceChildren(errorNotice(error, error.isFinal ? undefined : load));
    }
  };
  void load();
  return root;
}

/** Shows the webhook of a watch, and the secret that signs its events to those who may see it. */
function webhookFacts({ webhook_url: url, webhook_secret: secret }) {
  if (url === null) return [];
  const facts = [
    ["URL", url],
    ["Secret", secret],
  ].filter(([, value]) => value !== null);
  const list = facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd.break", {}, value)]);
  return [el("details.rest", {}, el("summary", {}, "Webhook"), el("dl", {}, list))];
}

/** Renders a button that previews the watch, and what the preview shows. */
function previewSection(getRecord, onChange) {
  const outlet = el("div.stack");
  const button = el("button.quiet", { type: "button" }, "Preview");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const { showStoredPreview } = await import("./stored-preview.js");
      await showStoredPreview(outlet, getRecord(), onChange);
    } catch (error) {
      outlet.replaceChildren(errorNotice(error));
    }
    button.disabled = false;
    if (document.activeElement === document.body) button.focus({ preventScroll: true });
  });
  return el("div.stack", { hidden: true }, el("p", {}, button), outlet);
}
