import { OFFLINE } from "./api-error.js";
import { el, errorNotice } from "./element.js";

/** Renders a page whose module is loaded when the page is first opened. */
export function lazyPage(load) {
  const root = el("div", { "aria-busy": "true" }, el("p.facts", {}, "Loading…"));
  const open = async () => {
    try {
      root.replaceChildren(await load());
    } catch {
      root.replaceChildren(errorNotice({ message: OFFLINE }, () => location.reload()));
    }
    root.removeAttribute("aria-busy");
  };
  void open();
  return root;
}
