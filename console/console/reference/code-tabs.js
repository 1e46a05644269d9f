import { announce, el } from "../shared/element.js";

const COPIED_MS = 2000;

/**
 * Turns each `.code-tabs` of the page, a list of `<pre data-language>`, into tabs, and adds a button
 * to each `<pre>` that copies its code. Choosing a language chooses it everywhere.
 */
export function enhanceCode(root) {
  const groups = [...root.querySelectorAll(".code-tabs")];
  for (const pre of root.querySelectorAll("pre")) addCopyButton(pre);
  const choosers = groups.map((group, i) => toTabs(group, `code-${i}`, chooseEverywhere));
  function chooseEverywhere(language) {
    for (const choose of choosers) choose(language);
  }
  chooseEverywhere("curl");
}

/** Adds the tabs of one group. Returns the function that selects a language in it. */
function toTabs(group, id, onChoose) {
  const panels = [...group.querySelectorAll("[data-language]")].map((pre) => pre.parentElement);
  const languages = panels.map((panel) => panel.firstElementChild.dataset.language);
  const tabs = languages.map((language, i) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        id: `${id}-tab-${i}`,
        "aria-controls": `${id}-panel-${i}`,
        onclick: () => chooseInPlace(language),
      },
      language,
    ),
  );
  for (const [i, panel] of panels.entries()) {
    panel.id = `${id}-panel-${i}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `${id}-tab-${i}`);
  }
  const list = el("div.tabs", { role: "tablist", "aria-label": "Language" }, tabs);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const from = tabs.indexOf(event.target);
    const to = (from + step + tabs.length) % tabs.length;
    chooseInPlace(languages[to]);
    tabs[to].focus();
  });
  group.prepend(list);

  /** Chooses a language everywhere. The tabs stay where they are on the screen. */
  function chooseInPlace(language) {
    const before = list.getBoundingClientRect().top;
    onChoose(language);
    scrollBy({ top: list.getBoundingClientRect().top - before, behavior: "instant" });
  }

  return (language) => {
    for (const [i, panel] of panels.entries()) {
      const isChosen = languages[i] === language;
      panel.hidden = !isChosen;
      tabs[i].setAttribute("aria-selected", String(isChosen));
      tabs[i].tabIndex = isChosen ? 0 : -1;
    }
  };
}

/** Wraps a `<pre>`, so that the button stays in place while the code scrolls. */
function addCopyButton(pre) {
  const button = el("button.copy", { type: "button", onclick: copy }, "Copy");
  const block = el("div.code");
  pre.tabIndex = 0;
  pre.replaceWith(block);
  block.append(pre, button);

  async function copy() {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
      announce("Copied");
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = "Press Ctrl+C";
      announce("The code is selected. Press Ctrl+C to copy it.");
    }
    setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
  }
}
