import { api } from "./api.js";
import { el, errorNotice } from "./element.js";

/**
 * Opens a list of the API page by page: `field` names its items, `render` makes an element of an
 * item. `load` shows the first page again. `onError` may return another element for an error.
 */
export function openPagedList(label, { path, field, render, empty, onError = errorNotice }) {
  const list = el("ul.records", { "aria-label": label });
  const end = el("div.more");
  const root = el("div.stack", {}, list, end);

  const load = async (cursor) => {
    root.setAttribute("aria-busy", "true");
    if (cursor || list.childElementCount === 0) end.replaceChildren(el("p.facts", {}, "Loading…"));
    try {
      const query = { limit: 50, ...(cursor && { cursor }) };
      const { [field]: items, next_cursor: next } = await api("GET", { ...path, query });
      const rendered = items.map(render);
      if (cursor) list.append(...rendered);
      else list.replaceChildren(...rendered);
      if (cursor) rendered[0]?.querySelector("button, summary")?.focus();
      const isEmpty = list.childElementCount === 0;
      end.replaceChildren(
        next ? moreButton("Show more", () => load(next)) : isEmpty ? el("p.empty", {}, empty) : "",
      );
    } catch (error) {
      end.replaceChildren(onError(error, () => load(cursor)));
    }
    root.removeAttribute("aria-busy");
  };

  return { root, list, load: () => load(undefined) };
}

export function moreButton(label, onclick) {
  return el("button", { type: "button", onclick }, label);
}
