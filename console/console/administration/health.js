import { assetLink } from "../library/linked-asset.js";
import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice, withCode } from "../shared/element.js";
import { plainMessage } from "../shared/error-advice.js";
import { routeHash } from "../shared/route.js";
import { count, dateTime } from "../shared/wording.js";
import { followJob } from "./job-progress.js";
import { codeName } from "./job-wording.js";

/** Assets that are checked in one request. */
const PAGE = 50;

/** Opens the health of an index: what a check finds, and its repair, whose report replaces that. */
export function openHealth(index) {
  const facts = el("p.facts", {}, "");
  const checkButton = el("button.quiet", { type: "button" }, "Check again");
  const repairButton = el("button.main", { type: "button" }, "Repair");
  const outlet = el("div.stack");
  let running = new AbortController();

  /** Stops the check, if there is one, and starts another. */
  const check = () => {
    running.abort();
    running = new AbortController();
    const onLast = (time) =>
      (facts.textContent = time ? `Last repair: ${dateTime(time)}` : "Not repaired yet");
    const view = openCheck(index, running, onLast);
    outlet.replaceChildren(view);
  };

  const repair = async () => {
    running.abort();
    const progress = el("div.panel.stack.tight", {}, el("p.facts", {}, "Starting…"));
    outlet.replaceChildren(progress);
    checkButton.disabled = true;
    repairButton.disabled = true;
    try {
      const { job_id: id } = await api("POST", indexPath(index, ["traverse"]));
      const job = await followJob(progress, id);
      facts.textContent = `Last repair: ${dateTime(job.updated_at)}`;
    } catch (error) {
      progress.replaceChildren(errorNotice(error));
    }
    checkButton.disabled = false;
    repairButton.disabled = false;
    repairButton.focus();
  };

  checkButton.addEventListener("click", check);
  repairButton.addEventListener("click", repair);
  check();
  return el(
    "section.stack",
    {},
    el(
      "div.row.between",
      {},
      el("div", {}, el("h2", {}, "Health"), facts),
      el("div.row", {}, checkButton, repairButton),
    ),
    el(
      "p.hint",
      {},
      "A check compares the records with the stored files, texts and vectors. It changes nothing. A repair restores what is missing and imports new items of followed sources.",
    ),
    el(
      "p.hint",
      {},
      el("a", { href: routeHash({ index, page: "quality" }) }, "Quality"),
      " says whether search results are right.",
    ),
    outlet,
  );
}

/**
 * Checks all assets of an index, page by page, and lists what it finds. It can be stopped and
 * continued, and ends when the page is left or `running` is aborted.
 */
function openCheck(index, running, onLast) {
  const list = el("ul.records", { "aria-label": "Findings" });
  const summary = el("p", { role: "status" }, "Checking…");
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress of the check" });
  const stop = el("button.quiet", { type: "button" }, "Stop");
  const end = el("div.more");
  const root = el("div.stack", {}, el("div.row.between", {}, summary, stop), bar, list, end);
  const done = { checked: 0, withFindings: 0, cursor: null, isStopped: false };

  const showPage = ({ index: record, nodes, health, total, next_cursor: next }) => {
    const ill = nodes.filter((node) => !node.health.ok);
    done.checked += nodes.length;
    done.withFindings += ill.length;
    done.cursor = next;
    list.append(...ill.map(({ asset, health: found }) => assetFindings(index, asset, found)));
    if (health && !health.ok) list.append(finding(el("b", {}, "The index itself"), health));
    bar.value = total === 0 ? 1 : done.checked / total;
    summary.textContent = summaryOf(done, total);
    onLast(record.last_traversed_at);
  };

  const run = async () => {
    done.isStopped = false;
    stop.textContent = "Stop";
    stop.hidden = false;
    end.replaceChildren();
    bar.hidden = false;
    try {
      do {
        const page = await readPage(index, done.cursor, running.signal);
        if (!page) return;
        showPage(page);
      } while (done.cursor && !done.isStopped && root.isConnected);
    } catch (error) {
      stop.hidden = true;
      end.replaceChildren(errorNotice(error, run));
      return;
    }
    bar.hidden = true;
    stop.hidden = done.cursor === null;
    if (done.cursor) stop.textContent = "Continue";
    else if (done.checked > 0 && list.childElementCount === 0) end.replaceChildren(allIsWell());
  };

  stop.addEventListener("click", () => {
    if (bar.hidden) void run();
    else done.isStopped = true;
  });
  void run();
  return root;
}

/** Reads a page of the check; null once it is aborted. A limit on requests is waited for. */
async function readPage(index, cursor, signal) {
  const path = indexPath(index, ["traverse"], { limit: PAGE, ...(cursor && { cursor }) });
  for (;;) {
    try {
      return await api("GET", path, { signal });
    } catch (error) {
      if (signal.aborted) return null;
      if (error.status !== 429) throw error;
      await new Promise((resolve) => setTimeout(resolve, (error.retryAfter ?? 3) * 1000));
    }
  }
}

function summaryOf({ checked, withFindings }, total) {
  if (total === 0) return "This index is empty: there is nothing to check.";
  const all = count(total, "video or image", "videos and images");
  const state = withFindings === 0 ? "without findings" : `${withFindings} with findings`;
  return `${checked.toLocaleString("en")} of ${all} checked, ${state}.`;
}

function allIsWell() {
  return el("p.empty", {}, "All is well: files, text and vectors are complete.");
}

function assetFindings(index, { asset_id: id, title }, health) {
  return finding(el("b.break", {}, assetLink(index, id, title)), health);
}

function finding(title, { findings }) {
  return el(
    "li.record",
    {},
    title,
    el(
      "ul.lines",
      {},
      findings.map(({ code, message }) =>
        el(
          "li",
          {},
          el("span.kind", {}, `${codeName(code)}: `),
          withCode(plainMessage({ code, message })),
        ),
      ),
    ),
  );
}
