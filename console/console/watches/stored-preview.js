import { followJob } from "../administration/job-progress.js";
import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { announce, el, errorNotice } from "../shared/element.js";
import { watchPreview } from "./watch-preview.js";
import { toPercent } from "./watch-wording.js";

/**
 * Shows in `outlet` what a stored watch would have announced. A probability that is chosen there is
 * saved by a button; `onChange` gets the changed record.
 */
export async function showStoredPreview(outlet, watch, onChange) {
  const { index_name: index, watch_id: id } = watch;
  const watchPath = (...rest) => indexPath(index, ["watches", id, ...rest]);
  const progress = el("div.panel.stack.tight", {}, el("p.facts", {}, "Starting…"));
  outlet.replaceChildren(progress);
  try {
    const { job_id: jobId } = await api("POST", watchPath("preview"));
    const { state, result } = await followJob(progress, jobId);
    if (state === "succeeded" && outlet.isConnected) show(outlet, watchPath(), result, onChange);
  } catch (error) {
    const again = () => showStoredPreview(outlet, watch, onChange);
    outlet.replaceChildren(errorNotice(error, error.isFinal ? undefined : again));
  }
}

function show(outlet, path, result, onChange) {
  let stored = toPercent(result.min_probability);
  let chosen = stored;
  const problem = el("div", { role: "alert" });
  const save = el("button.main", { type: "button", hidden: true });
  const view = watchPreview(result, {
    onChoose(percent) {
      chosen = percent;
      view.update(percent);
      save.textContent = `Match from ${percent} % from now on`;
      save.hidden = chosen === stored;
    },
  });
  save.addEventListener("click", async () => {
    problem.replaceChildren();
    save.disabled = true;
    try {
      onChange(await api("PATCH", path, { body: { min_probability: chosen / 100 } }));
      stored = chosen;
      save.hidden = true;
      announce("Saved.");
    } catch (error) {
      problem.replaceChildren(errorNotice(error));
    }
    save.disabled = false;
  });
  outlet.replaceChildren(view.root);
  view.root.firstElementChild.append(el("div.row", {}, save), problem);
}
