import { api, indexPath } from "./api.js";
import { el, errorNotice } from "./element.js";
import { followJob } from "./job-progress.js";
import { codeName } from "./job-wording.js";
import { moreButton } from "./paged-list.js";
import { count, dateTime } from "./wording.js";

/** Assets that are checked in one request. */
const PAGE = 50;

/** Opens the health of an index: what a check finds, page by page, and its repair. */
export function openHealth(index) {
  const facts = el("p.facts", {}, "");
  const repairButton = el("button.main", { type: "button" }, "Repair");
  const progress = el("div.panel.stack.tight", { hidden: true });
  const list = el("ul.records", { "aria-label": "Findings" });
  const summary = el("p", { role: "status" }, "");
  const end = el("div.more");
  let [checked, withFindings] = [0, 0];

  const check = async (cursor) => {
    end.replaceChildren(el("p.facts", {}, "Checking…"));
    try {
      const query = { limit: PAGE, ...(cursor && { cursor }) };
      const page = await api("GET", indexPath(index, "/traverse", query));
      if (!cursor) {
        list.replaceChildren();
        [checked, withFindings] = [0, 0];
      }
      showPage(page);
    } catch (error) {
      end.replaceChildren(errorNotice(error, () => check(cursor)));
    }
  };

  const showPage = ({ index: record, nodes, health, total, next_cursor: next }) => {
    const ill = nodes.filter((node) => !node.health.ok);
    checked += nodes.length;
    withFindings += ill.length;
    list.append(...ill.map(assetFindings));
    if (health && !health.ok) list.append(indexFindings(health));
    const isHealthy = list.childElementCount === 0;
    const state = withFindings === 0 ? "without findings" : `${withFindings} with findings`;
    summary.textContent =
      total === 0
        ? "This index is empty: there is nothing to check."
        : `${checked} of ${count(total, "video or image", "videos and images")} checked, ${state}.`;
    const last = record.last_traversed_at;
    facts.textContent = last ? `Last repair: ${dateTime(last)}` : "Not repaired yet";
    end.replaceChildren(
      next
        ? moreButton(`Check the next ${Math.min(PAGE, total - checked)}`, () => check(next))
        : "",
    );
    if (!next && isHealthy && total > 0) {
      end.replaceChildren(el("p.empty", {}, "All is well: files, text and vectors are complete."));
    }
  };

  repairButton.addEventListener("click", async () => {
    repairButton.disabled = true;
    progress.hidden = false;
    progress.replaceChildren(el("p.facts", {}, "Starting…"));
    try {
      const { job_id: id } = await api("POST", indexPath(index, "/traverse"));
      await followJob(progress, id);
      await check();
    } catch (error) {
      progress.replaceChildren(errorNotice(error));
    }
    repairButton.disabled = false;
    repairButton.focus();
  });

  void check();
  return el(
    "section.stack",
    {},
    el("div.row.between", {}, el("div", {}, el("h2", {}, "Health"), facts), repairButton),
    el(
      "p.hint",
      {},
      "A check compares the records with the stored files, texts and vectors. It changes nothing. A repair restores what is missing and imports new items of followed sources.",
    ),
    progress,
    summary,
    list,
    end,
  );
}

function assetFindings({ asset, health }) {
  return finding(asset.title, asset.asset_id, health);
}

function indexFindings(health) {
  return finding("The index itself", "", health);
}

function finding(title, id, { findings }) {
  return el(
    "li.record",
    {},
    el("b.title", { dir: "auto", title }, title),
    el("span.facts", {}, id),
    el(
      "ul.lines",
      {},
      findings.map(({ code, message }) =>
        el("li", {}, el("span.kind", {}, `${codeName(code)}: `), message),
      ),
    ),
  );
}
