import { followJob } from "../administration/job-progress.js";
import { exampleFile } from "../search/example-files.js";
import { announce, el, errorNotice } from "../shared/element.js";
import { NEW_WATCH, routeHash } from "../shared/route.js";
import { openWatchExample } from "./watch-example.js";
import { probabilityField, webhookField } from "./watch-fields.js";
import { watchPreview } from "./watch-preview.js";
import { openDraft } from "./watch-requests.js";
import {
  DEFAULT_PERCENT,
  defaultName,
  PERCENTS,
  requestFields,
  restrictionsOf,
  toPercent,
} from "./watch-wording.js";

const SUPPORTED = new Set(["similar", "image"]);

/** Opens the form for a watch, filled in with the search of a route. */
export function openNewWatch(index, route) {
  const { modes, filter, topP } = route;
  const first = SUPPORTED.has(route.example?.kind) ? route.example : null;
  const draft = openDraft(index);
  const query = el("input", {
    id: "watch-query",
    maxlength: 2000,
    autocomplete: "off",
    dir: "auto",
    placeholder: "A red truck at the gate",
  });
  query.value = route.query;
  const name = el("input", { id: "watch-name", maxlength: 200, autocomplete: "off", dir: "auto" });
  const example = openWatchExample(first, () => update());
  const least = toPercent(topP) >= DEFAULT_PERCENT / 2 ? toPercent(topP) : DEFAULT_PERCENT;
  const probability = probabilityField(Math.min(least, PERCENTS.max), () => update());
  const webhook = webhookField(null);
  const problem = el("div", { role: "alert" });
  const outlet = el("div.stack");
  const previewButton = el("button.quiet", { type: "button" }, "Preview");
  const createButton = el("button.main", {}, "Create watch");
  /** What is previewed below, with the request that it is a preview of; null without one. */
  let shown = null;

  const readState = () => {
    const chosen = { query: query.value, example: example.read(), modes, filter };
    return { ...chosen, topP: probability.read() / 100 };
  };

  /** Reads the form. Throws an error with a sentence for the user. */
  const readForm = () => {
    const state = readState();
    if (state.query.trim() === "" && !state.example) {
      throw new Error("Say what to watch for: words, or an image.");
    }
    const isImage = state.example?.kind === "image";
    const file = isImage ? exampleFile(state.example) : undefined;
    if (isImage && !file) throw new Error(`Choose “${state.example.name}” again.`);
    const url = webhook.read();
    const settings = {
      name: name.value.trim() || defaultName(state.query, state.example),
      min_probability: state.topP,
      ...(url && { webhook_url: url }),
    };
    return { request: requestFields(state), settings, file };
  };

  const keyOf = ({ query: words, example: chosen }) => JSON.stringify([words, chosen?.id ?? null]);

  /** Updates the address, and the preview to the lowest probability. */
  const update = () => {
    if (!form.isConnected) return;
    const state = readState();
    name.placeholder = defaultName(state.query, state.example);
    history.replaceState(
      null,
      "",
      routeHash({ index, page: "watches", watch: NEW_WATCH, ...state }),
    );
    if (!shown) return;
    shown.view.update(probability.read());
    shown.changed.hidden = keyOf(state) === shown.key;
  };

  const attempt = async (button, work) => {
    problem.replaceChildren();
    button.disabled = true;
    try {
      await work(readForm());
    } catch (error) {
      problem.replaceChildren(errorNotice(error));
    }
    button.disabled = false;
    // A disabled button loses the focus, and a preview replaces the button that repeats it.
    if (document.activeElement === document.body) button.focus({ preventScroll: true });
  };

  const preview = () =>
    attempt(previewButton, async (fields) => {
      const key = keyOf(readState());
      const progress = el("div.panel.stack.tight", {}, el("p.facts", {}, "Starting…"));
      shown = null;
      outlet.replaceChildren(progress);
      progress.scrollIntoView({ block: "nearest" });
      try {
        const jobId = await draft.preview(fields);
        const { state, result } = await followJob(progress, jobId);
        if (state === "succeeded" && form.isConnected)
          show(result, { key, isStored: fields.file !== undefined });
      } catch (error) {
        outlet.replaceChildren();
        throw error;
      }
    });

  const show = (result, { key, isStored }) => {
    const changed = el("p.notice", { hidden: true }, CHANGED);
    const view = watchPreview(result, {
      onChoose(percent) {
        probability.write(percent);
        update();
      },
      onRepeat: preview,
    });
    shown = { view, changed, key };
    const stored = isStored ? [el("p.facts", {}, STORED)] : [];
    outlet.replaceChildren(changed, ...stored, view.root);
    update();
  };

  const form = el(
    "form.panel.stack.tight",
    {},
    el("p.hint", {}, HINT),
    el("label", { for: "watch-query" }, "What to watch for"),
    query,
    example.root,
    ...restrictions(index, route),
    el("label", { for: "watch-name" }, "Name (optional)"),
    name,
    ...probability.parts,
    ...webhook.parts,
    problem,
    el("div.row", {}, previewButton, createButton),
  );
  form.addEventListener("input", ({ target }) => target !== name && update());
  previewButton.addEventListener("click", preview);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(createButton, async (fields) => {
      const id = await draft.create(fields);
      announce(`${fields.settings.name} is created.`);
      if (form.isConnected) location.hash = routeHash({ index, page: "watches", watch: id });
    });
  });
  name.placeholder = defaultName(route.query, first);
  const all = el("a", { href: routeHash({ index, page: "watches" }) }, "All watches");
  return el("section.stack", {}, all, el("h2", {}, "New watch"), form, outlet);
}

const HINT =
  "Each new moment that matches is listed once, and announced by an event. What the index has already isn't announced: a preview shows what would have been.";
const CHANGED = "What to watch for has changed since this preview. Preview again.";
const STORED =
  "An image is previewed as a paused watch, which is in the list already. “Create watch” starts it.";

/** Says what the search restricts the watch to, with a link to change that. */
function restrictions(index, { query, modes, filter, topP, example }) {
  const texts = restrictionsOf({ modes, filter });
  if (texts.length === 0) return [];
  const href = routeHash({ index, query, modes, filter, topP, example });
  const link = el("a", { href }, "Change this in the search");
  return [el("p.facts.break", {}, `${texts.join(" · ")}. `, link)];
}
