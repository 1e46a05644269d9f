/**
 * An element: `el("li.card", { title: "…", onclick: f }, child, …)`. `on…` attributes are listeners;
 * true is an attribute without a value; false, null and undefined leave it out. Children are nodes,
 * lists of them, or text that is never read as markup.
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

/** The content of a `<template>`, and its elements by their `data-part`. */
export function fromTemplate(id) {
  const root = document.getElementById(id).content.firstElementChild.cloneNode(true);
  const named = [...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]);
  return { root, ...Object.fromEntries(named) };
}

/** Tells a screen reader what changed out of its sight. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** What went wrong, in the words of the API, and a way to try again where there is one. */
export function problem(error, again, label = "Try again") {
  const retry = again && el("button.quiet", { type: "button", onclick: again }, label);
  return el("div.notice.bad", {}, el("p", {}, error.message), retry ?? null);
}

/** Asks in a dialog; resolves to whether the answer was yes. */
export function confirmed(title, text, yes) {
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

/** How many assets are on their way, and how many failed; nothing where all are ready. */
export function stateBadges({ queued, processing, failed }) {
  const working = queued + processing;
  return el(
    "span.badges",
    {},
    working > 0 ? el("span.badge", {}, `${working} in the works`) : null,
    failed > 0 ? el("span.badge.bad", {}, `${failed} failed`) : null,
  );
}
