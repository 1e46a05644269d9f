import { assetLink } from "../library/linked-asset.js";
import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { percent } from "../shared/wording.js";
import { isCancellable, isRunning, jobState, leftByRepair, reportOf } from "./job-wording.js";

const POLL_MS = 1000;

/** Shows the progress of a job in `outlet`, and at the end its report. Resolves to the ended job. */
export async function followJob(outlet, jobId) {
  const path = apiPath(["jobs", jobId]);
  for (;;) {
    let pauseMs = POLL_MS;
    try {
      const job = await api("GET", path);
      if (!isRunning(job)) {
        outlet.replaceChildren(jobReport(job));
        announce(jobState(job));
        return job;
      }
      showProgress(outlet, job);
    } catch (error) {
      if (error.status !== 0 && error.status !== 429 && error.status < 500) throw error;
      pauseMs = (error.retryAfter ?? 3) * 1000;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Renders the state of an ended job, its error and its report. */
export function jobReport(job) {
  const left = leftByRepair(job).map(({ id, title, message }) => [
    id ? assetLink(job.index_name, id, title) : "The index itself",
    `: ${message}`,
  ]);
  const lines = [...reportOf(job), ...left].map((line) => el("li", {}, line));
  return el(
    "div.stack.tight",
    {},
    el("p", {}, el("b", {}, jobState(job))),
    job.error ? errorNotice(job.error) : null,
    lines.length > 0 ? el("ul.lines", {}, lines) : null,
  );
}

/** Updates the progress of a job in place, so that its button is not lost to the keyboard. */
function showProgress(outlet, job) {
  if (!outlet.querySelector("progress")) {
    const bar = el("progress", { max: 1, value: job.progress, "aria-label": "Progress" });
    const cancel = isCancellable(job) ? cancelButton(job, outlet) : null;
    outlet.replaceChildren(el("div.row.between", {}, el("p.state", {}, ""), cancel), bar);
  }
  outlet.querySelector("progress").value = job.progress;
  const share = job.progress > 0 ? `, ${percent(job.progress)}` : "";
  outlet.querySelector(".state").textContent = `${jobState(job)}${share}`;
}

function cancelButton(job, outlet) {
  const cancel = async () => {
    try {
      await api("DELETE", apiPath(["jobs", job.job_id]));
    } catch (error) {
      outlet.append(errorNotice(error));
    }
  };
  return el("button.quiet", { type: "button", onclick: cancel }, "Cancel the job");
}
