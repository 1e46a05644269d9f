import { OFFLINE } from "../shared/api-error.js";
import { errorNotice } from "../shared/element.js";
import { onCutListChange, readCutList } from "./stored-cut-list.js";

/**
 * Lets `toggle` open and close the cut list of an index in `panel`. The list's module is loaded when
 * it is first opened. `close` closes it.
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
      panel.replaceChildren(errorNotice({ message: OFFLINE }, open));
    }
  };

  const setOpen = (isOpen) => {
    panel.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) void open();
  };
  toggle.addEventListener("click", () => setOpen(panel.hidden));
  onCutListChange((changed) => changed === index && draw());
  draw();
  return { close: () => setOpen(false) };
}
