import { readRoute, routeHash } from "../shared/route.js";
import { openExampleField } from "./example-field.js";
import { openIndexChoice } from "./index-choice.js";
import { openScopeField } from "./scope-field.js";
import { isVideo, placeOf } from "./scope.js";
import { openSearchOptions } from "./search-options.js";
import { hasSearch, isFile } from "./search-state.js";
import { openTerms } from "./search-terms.js";
import { indicesText } from "./searched-indices.js";
import { isComposed } from "./terms.js";

/** Names of the checkboxes of a search, which are also those of its state. */
const TICKS = ["boxes", "masks", "grouped", "duplicates"];

/**
 * Opens the form for searches and questions in an index, which changes the page's address. `getView`
 * returns the view of the library, `onRepeat` runs if the address stays the same.
 */
export function openSearchForm(index, parts, { getView, onRepeat }) {
  const { form } = parts;
  const { elements } = form;
  /** The route that is shown. */
  let shown = null;
  const isAsking = () => elements.do.value === "ask";

  const example = openExampleField(
    { outlet: parts.example, field: parts.field, chips: parts.tools },
    (chosen) => {
      elements.do.value = "search";
      updateForm();
      go({ chosen });
    },
  );
  const options = openSearchOptions(
    index,
    { chips: parts.tools, rows: parts.rules },
    ({ isSlider }) => {
      // Each step of the slider would add to the browser's history.
      if (isSearching()) go({ isReplacing: isSlider && hasSearch(shown) });
    },
  );
  const terms = openTerms({ outlet: parts.terms, buttons: parts["add-terms"] }, () => {
    if (!isAsking()) go();
  });
  const where = openIndexChoice(index, { toggle: parts.where, panel: parts.indices }, () => {
    updateForm();
    if (isAsking() ? shown.question : isSearching()) go();
  });
  const setOpen = (isOpen) => {
    form.classList.toggle("folded", !isOpen);
    parts.options.setAttribute("aria-expanded", String(isOpen));
  };
  parts.options.addEventListener("click", () => setOpen(form.classList.contains("folded")));
  elements.text.addEventListener("focus", () => setOpen(true));
  const scope = openScopeField(parts.scope, (chosen) => {
    if (isAsking() ? shown.question : isSearching()) go();
    else keepScope(chosen);
    if (chosen === null) elements.text.focus();
  });

  /** Takes a scope over for the next search or question, and leaves typed text alone. */
  const keepScope = (chosen) => {
    history.replaceState(null, "", routeHash({ ...readRoute(), scope: chosen }));
    shown = readRoute();
    updateForm();
  };

  const isSearching = () =>
    !isAsking() &&
    Boolean(elements.text.value.trim() || example.read() || isComposed(terms.read() ?? {}));

  const go = ({ chosen = example.read(), isReplacing = false } = {}) => {
    const route = readForm(chosen);
    if (!route) return;
    // Other filters and options leave the judgments as they are.
    const isSame = route.query === shown?.query && route.example?.id === shown?.example?.id;
    const refined = isSame ? shown?.refined : "";
    const { layout } = readRoute();
    visit(routeHash({ index, view: getView(), ...route, refined, layout }), isReplacing);
  };

  const visit = (hash, isReplacing = false) => {
    if (hash === location.hash) onRepeat();
    else if (isReplacing) location.replace(hash);
    else location.hash = hash;
  };

  /** Reads the form; null if a filter is invalid, which is shown. */
  const readForm = (chosen) => {
    const text = elements.text.value.trim();
    const place = { scope: scope.read(), indices: where.read() };
    if (isAsking()) {
      const { checked, disabled } = elements.fromImages;
      return { question: text, fromImages: checked && !disabled, ...place };
    }
    const found = options.read();
    if (!found) return null;
    const modes = [...elements.mode].filter(({ checked }) => checked).map(({ value }) => value);
    const ticks = Object.fromEntries(TICKS.map((name) => [name, elements[name].checked]));
    const asked = terms.read();
    if (!asked) return null;
    // A search by a clip has no words. Without words, a sequence begins with its next step.
    const isShifted = text === "" && chosen === null && asked.steps.length > 0;
    const [query, steps] = isShifted ? [asked.steps[0], asked.steps.slice(1)] : [text, asked.steps];
    const sought = { query: isClip(chosen) ? "" : query, ...asked, steps, example: chosen };
    return { ...sought, modes, ...ticks, ...found, ...place };
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    options.removeEmptyRows();
    await options.completeFolders();
    // What is found comes first, unless a condition or a step was entered.
    if (parts.field.contains(document.activeElement)) setOpen(false);
    go();
    if (!isAsking() && !isSearching()) options.explainIdle();
  });
  form.addEventListener("change", ({ target }) => {
    if (target.name === "do") updateForm();
    else if (
      target.name === "fromImages" ? shown.question : target.name !== "text" && isSearching()
    )
      go();
  });
  // Escape clears the words, and leaves the filters and what is shown.
  elements.text.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || elements.text.value === "") return;
    event.preventDefault();
    elements.text.value = "";
  });
  // Clearing the search field by its button leads back to the library.
  form.addEventListener("search", () => elements.text.value === "" && go());

  /** Disables answers from images, and says why, if no model sees them. */
  const updateFromImages = async () => {
    const { canSeeImages } = await import("./language-model.js");
    const isPossible = await canSeeImages(index);
    elements.fromImages.disabled = !isPossible;
    parts["from-images-note"].hidden = isPossible;
  };

  /** Updates labels and options to what the form is for. */
  const updateForm = () => {
    const asks = isAsking();
    const chosen = example.read();
    parts.go.textContent = asks ? "Ask" : "Search";
    for (const part of [parts.options, parts.chips, parts.example, parts.rules]) part.hidden = asks;
    for (const part of [parts.terms, parts["add-terms"]]) part.hidden = asks || isFile(chosen);
    scope.show(scope.read(), asks);
    // An answer about one video or image is always from its images, too.
    const indices = where.read();
    if (asks) void updateFromImages();
    parts["from-images"].hidden = !asks || scope.read() !== null || indices.length > 0;
    parts.where.hidden = scope.read() !== null || (!asks && chosen !== null);
    if (parts.where.hidden) parts.indices.hidden = true;
    const place = indices.length > 0 ? indicesText(indices) : placeOf(scope.read());
    elements.text.placeholder = asks
      ? "Why did the carpenter leave?"
      : "A boat, a spoken word, a line on a sign…";
    form.querySelector("label[for=text]").textContent = asks ? `Ask ${place}` : `Search ${place}`;
    for (const name of ["boxes", "masks"]) elements[name].disabled = isFile(chosen);
    elements.text.disabled = !asks && isClip(chosen);
    parts["file-note"].hidden = asks || !isFile(chosen);
    parts["file-note"].textContent = isClip(chosen)
      ? "A search by a clip has no words, steps, conditions, boxes or masks."
      : "A search by an image can have words beside it, but no steps, conditions, boxes or masks.";
  };

  return {
    /** Shows what a route searches for or asks. */
    write(route) {
      const isSearch = hasSearch(route);
      const isNewScope = route.scope !== null && route.scope.id !== shown?.scope?.id;
      shown = route;
      elements.text.value = route.query || route.question;
      if (isSearch) elements.do.value = "search";
      if (route.question) elements.do.value = "ask";
      if (isSearch) {
        for (const box of elements.mode) box.checked = route.modes.includes(box.value);
        for (const name of TICKS) elements[name].checked = route[name];
        options.write(route);
      }
      terms.write(route);
      if (route.question) elements.fromImages.checked = route.fromImages;
      const isForScope = isNewScope && !isSearch && !route.question;
      if (isForScope && !isVideo(route.scope)) elements.do.value = "ask";
      example.show(route.example);
      scope.show(route.scope, isAsking());
      where.write(route.indices);
      updateForm();
      if (isForScope) elements.text.focus();
    },
  };
}

function isClip(example) {
  return example?.kind === "clip" || example?.kind === "range";
}
