import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { announce, confirmAction, el } from "../shared/element.js";

/**
 * Renders the buttons that pause, change and delete a watch. `onChange` gets the changed record,
 * `onError` what went wrong; null clears that.
 */
export function watchActions(watch, { onChange, onDeleted, onError }) {
  const { name, paused, index_name: index, watch_id: id } = watch;
  const path = indexPath(index, ["watches", id]);
  const attempt = async (work) => {
    onError(null);
    try {
      await work();
    } catch (error) {
      onError(error);
    }
  };
  const togglePause = () =>
    attempt(async () => {
      onChange(await api("PATCH", path, { body: { paused: !paused } }));
      announce(paused ? `${name} goes on.` : `${name} is paused.`);
    });
  const change = () =>
    attempt(async () => {
      const { openWatchEditor } = await import("./watch-editor.js");
      openWatchEditor(watch, path, onChange);
    });
  const remove = () =>
    attempt(async () => {
      const text = `“${name}” and its list of matches will be deleted permanently. The videos and images stay.`;
      if (!(await confirmAction("Delete this watch?", text, "Delete"))) return;
      await api("DELETE", path);
      announce(`${name} is deleted.`);
      onDeleted();
    });
  const action = (verb, onclick) => {
    const attributes = { type: "button", "aria-label": `${verb} ${name}`, onclick };
    return el("button.quiet.faint", attributes, verb);
  };
  return el(
    "p.actions.calm",
    {},
    action(paused ? "Resume" : "Pause", togglePause),
    action("Edit", change),
    action("Delete", remove),
  );
}
