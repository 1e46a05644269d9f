import { el, restoreFocus } from "./element.js";

/** Notices beyond which one button dismisses all. */
const MANY = 3;

/** Shows notices in `outlet` until each is dismissed. */
export function openNotices(outlet) {
  const list = el("div.notices");
  const dismissAll = el("button.quiet.faint", { type: "button", hidden: true }, "Dismiss all");
  outlet.append(list, dismissAll);

  const update = () => (dismissAll.hidden = list.childElementCount <= MANY);
  const remove = (notice) => {
    const next = notice.nextElementSibling ?? notice.previousElementSibling;
    const hadFocus = notice.contains(document.activeElement);
    notice.remove();
    update();
    if (!hadFocus) return;
    next?.querySelector("button").focus();
    restoreFocus();
  };
  dismissAll.addEventListener("click", () => {
    list.replaceChildren();
    update();
    restoreFocus();
  });

  return {
    /**
     * Shows a sentence, once if it is shown already, with `lines` folded below it. Returns a function
     * that takes it away.
     */
    show(text, { name = "div.notice", lines = [] } = {}) {
      for (const shown of list.children) if (shown.dataset.text === text) shown.remove();
      const dismiss = el("button.close", { type: "button", "aria-label": "Dismiss" }, "×");
      const items = lines.map((line) => el("li", { dir: "auto" }, line));
      const content =
        lines.length > 0
          ? el("details", {}, el("summary", {}, text), el("ul", {}, items))
          : el("p", {}, text);
      const notice = el(name, { "data-text": text }, content, dismiss);
      dismiss.addEventListener("click", () => remove(notice));
      list.append(notice);
      update();
      return () => remove(notice);
    },
  };
}
