import { indexTitle } from "../library/index-title.js";
import { assetLink } from "../library/linked-asset.js";
import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { openPagedList } from "../shared/paged-list.js";
import { routeHash } from "../shared/route.js";
import { dateTime, percent } from "../shared/wording.js";
import { jobReport } from "./job-progress.js";
import { isCancellable, isRunning, jobName, jobState, reportOf } from "./job-wording.js";

const POLL_MS = 3000;

/** Opens the list of the account's jobs. Those that are running are followed. */
export function openJobs() {
  const running = new Map();
  /** Shown names of indices, by their names in the API. */
  const titles = new Map();
  const draw = (item, job, onChange) => drawJob(item, job, { titles, onChange });
  const list = openPagedList("Jobs", {
    path: apiPath(["jobs"]),
    field: "jobs",
    empty: "No jobs yet. Adding, importing, repairing and deleting are listed here.",
    render: (job) => {
      const item = el("li.record");
      draw(item, job, (updated) => redraw(item, updated));
      if (isRunning(job)) running.set(job.job_id, item);
      return item;
    },
  });
  const reload = el("button.quiet", { type: "button" }, "Reload");
  reload.addEventListener("click", async () => {
    running.clear();
    await list.load();
    announce("The list of jobs is up to date.");
  });
  const root = el(
    "section.stack",
    {},
    el("div.row.between", {}, el("h1", {}, "Jobs"), reload),
    el("p.facts", {}, "Work in the background, newest first."),
    list.root,
  );

  const redraw = (item, job) => {
    const hadFocus = item.contains(document.activeElement);
    draw(item, job, (updated) => redraw(item, updated));
    if (!isRunning(job)) running.delete(job.job_id);
    if (hadFocus) (item.querySelector("button, summary") ?? reload).focus();
  };

  const poll = async () => {
    while (root.isConnected) {
      for (const [id, item] of [...running].slice(0, 8)) {
        try {
          redraw(item, await api("GET", apiPath(["jobs", id])));
        } catch (error) {
          if (error.status === 404) running.delete(id);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };

  // Without the names, those of the API are shown.
  void readTitles(titles)
    .catch(() => {})
    .then(list.load)
    .then(poll);
  return root;
}

/** Reads the shown names of all indices into `titles`. */
async function readTitles(titles) {
  let cursor;
  do {
    const page = await api("GET", apiPath(["index"], { limit: 100, cursor }));
    for (const index of page.indices) titles.set(index.index_name, indexTitle(index));
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
}

function drawJob(item, job, { titles, onChange }) {
  const name = jobName(job);
  const share = isRunning(job) && job.progress > 0 ? ` · ${percent(job.progress)}` : "";
  const hasReport = job.error !== null || reportOf(job).length > 0;
  item.replaceChildren(
    el("b", {}, name),
    el("span", { class: job.state === "failed" ? "badge bad" : "badge" }, jobState(job)),
    el("span.subject", {}, subjectOf(job, titles)),
    el("span.facts", {}, `${dateTime(job.created_at)}${share} · ${job.job_id}`),
  );
  if (isRunning(job)) {
    item.append(el("progress", { max: 1, value: job.progress, "aria-label": `Progress: ${name}` }));
  }
  if (isCancellable(job)) item.append(cancelButton(item, job, onChange));
  if (!isRunning(job) && hasReport) {
    const summary = el("summary", {}, job.error ? "What went wrong" : "What was done");
    item.append(el("details.rest", {}, summary, jobReport(job)));
  }
}

/** Links to the video or image that a job is about, and to its index. */
function subjectOf({ kind, index_name: index, asset_id: id, asset_title: title }, titles) {
  if (index === null) return "";
  const shown = titles.get(index) ?? index;
  const name = kind === "delete_index" ? shown : el("a", { href: routeHash({ index }) }, shown);
  if (id === null) return ["Index ", name];
  return [title === null ? "Deleted" : assetLink(index, id, title), " in ", name];
}

function cancelButton(item, job, onChange) {
  const cancel = async () => {
    try {
      onChange(await api("DELETE", apiPath(["jobs", job.job_id])));
      announce(`${jobName(job)} is cancelled.`);
    } catch (error) {
      item.append(errorNotice(error));
    }
  };
  const label = `Cancel ${jobName(job)}, ${job.job_id}`;
  const attributes = { type: "button", "aria-label": label, onclick: cancel };
  return el("button.quiet.faint", attributes, "Cancel");
}
