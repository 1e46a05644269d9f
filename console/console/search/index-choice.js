import { lazyField } from "../shared/lazy-field.js";
import { indicesText } from "./searched-indices.js";

/**
 * Opens the choice of the indices that are searched beside `index`: `toggle` opens and closes the list
 * in `panel`, which is loaded when it is first opened. `onChange` runs after each choice.
 */
export function openIndexChoice(index, { toggle, panel }, onChange) {
  let shown = [];
  const write = (indices) => {
    shown = indices;
    toggle.textContent = `In ${indicesText(indices)}`;
  };
  const open = lazyField(panel, async () => {
    const { openIndexField } = await import("./index-field.js");
    return openIndexField(index, panel, (chosen) => {
      write(chosen);
      onChange();
    });
  });
  toggle.addEventListener("click", async () => {
    panel.hidden = !panel.hidden;
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) (await open())?.write(shown);
  });
  return { read: () => shown, write };
}
