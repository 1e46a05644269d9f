import { errorNotice } from "../shared/element.js";
import { onCutListChange, readCutList } from "./stored-cut-list.js";

/**
 * Lets `toggle` open and close the cut list of an index in `panel`. The list's module is loaded when
 * it is first opened.
 */
export function openCutListToggle(index, { toggle, panel }) {
  let list = null;

  const draw = () => {
    const { length } = readCutList(index);
    toggle.textContent = length > 0 ? `Cut list (${length})` : "Cut list";
  };

  const open = async () => {
    try {
      list ??= (await import("./cut-list-panel.js")).openCutList(index, { toggle, panel });
      await list.refresh();
    } catch {
      const message = "The cut list can't be loaded. Check the connection and try again.";
      panel.replaceChildren(errorNotice({ message }, open));
    }
  };

  toggle.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) void open();
  });
  onCutListChange((changed) => changed === index && draw());
  draw();
}
