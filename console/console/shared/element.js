import { messageOf } from "./api-error.js";
import { shortenMiddle } from "./wording.js";

/**
 * Creates an element: `el("li.card", { title: "…", onclick: f }, child, …)`. Attributes named `on…`
 * are listeners; `true` sets an empty attribute; false, null and undefined omit it. Children are
 * nodes, lists of nodes, or text, which is never parsed as markup.
 */
export function el(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length > 0) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Creates an SVG element. */
export function shape(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Clones a `<template>`. Returns its root and its elements by their `data-part`. */
export function fromTemplate(id) {
  const root = document.getElementById(id).content.firstElementChild.cloneNode(true);
  const named = [...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]);
  return { root, ...Object.fromEntries(named) };
}

/** Renders a title in two lines of a card. A long one is shortened; all of it is in a tooltip. */
export function titleHeading(title) {
  const shown = shortenMiddle(title);
  const [ending = ""] = /\.[a-z\d]{1,5}$/i.exec(shown) ?? [];
  // A line breaks before the ending of a file's name, not within it.
  const parts = ending === "" ? [] : [el("wbr"), el("span.ending", {}, ending)];
  const stem = shown.slice(0, shown.length - ending.length);
  return el("h3.title.two-lines", { title, dir: "auto" }, stem, ...parts);
}

/** Renders the folder of a file in one line; all of it is in a tooltip. Null without one. */
export function folderLine(folder) {
  return folder ? el("p.facts.folder", { title: folder, dir: "auto" }, folder) : null;
}

/** Announces a change to screen readers (a live region). */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Moves the focus to the page's content if the focused element was removed or hidden. */
export function restoreFocus() {
  const { activeElement, body } = document;
  if (activeElement !== body && activeElement.checkVisibility()) return;
  document.querySelector("main").focus({ preventScroll: true });
}

/** Replaces a card, or removes it without `replacement`. The focus goes to it or to a neighbour. */
export function replaceCard(card, replacement) {
  const hadFocus = card.contains(document.activeElement);
  const next = replacement ?? card.nextElementSibling ?? card.previousElementSibling;
  if (replacement) card.replaceWith(replacement);
  else card.remove();
  if (!hadFocus) return;
  next?.querySelector("button:not(:disabled)")?.focus();
  restoreFocus();
}

/** Renders what is between backticks as code. */
export function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 === 1 ? el("code", {}, part) : part));
}

/** The message that was shown when the user tried again, until that ends; else null. */
let retried = null;

/** Renders an error's message, with a retry button if `onRetry` is given. */
export function errorNotice(error, onRetry, label = "Try again") {
  const message = messageOf(error);
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const text = retried === message ? `Tried again at ${time}: ${message}` : message;
  const retry = async () => {
    retried = message;
    try {
      await onRetry();
    } finally {
      retried = null;
    }
    restoreFocus();
  };
  const button = onRetry && el("button.quiet", { type: "button", onclick: retry }, label);
  return el("div.notice.bad", {}, el("p", {}, withCode(text)), button ?? null);
}

/** Shows a confirmation dialog. Resolves to true if the user confirms. */
export function confirmAction(title, text, yes) {
  const dialog = document.getElementById("confirm");
  document.getElementById("confirm-title").textContent = title;
  document.getElementById("confirm-text").textContent = text;
  document.getElementById("confirm-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/** Renders the numbers of assets in progress and of failed assets; nothing if all are ready. */
export function stateBadges({ queued, processing, failed }) {
  const working = queued + processing;
  return el(
    "span.badges",
    {},
    working > 0 ? el("span.badge", {}, `${working} in progress`) : null,
    failed > 0 ? el("span.badge.bad", {}, `${failed} failed`) : null,
  );
}
