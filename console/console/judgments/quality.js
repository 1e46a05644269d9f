import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { announce, el, errorNotice } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { count, EVIDENCE } from "../shared/wording.js";
import { qualityTable } from "./quality-table.js";
import {
  calibrationText,
  precisionRows,
  requirementText,
  summaryFacts,
} from "./quality-wording.js";
import { reliabilityDiagram } from "./reliability-diagram.js";

/** Opens how right the results of an index are by its judgments, and the switch of its calibration. */
export function openQuality(index) {
  const content = el("div.stack", { "aria-busy": "true" }, el("p.facts", {}, "Loading…"));
  const load = async () => {
    try {
      const [quality, { index: record }] = await Promise.all([
        api("GET", indexPath(index, ["quality"])),
        api("GET", indexPath(index, [], { limit: 1 })),
      ]);
      content.replaceChildren(
        ...figureSections(index, quality),
        calibrationPanel(index, { quality, settings: record.settings }, load),
      );
    } catch (error) {
      content.replaceChildren(errorNotice(error, load));
    }
    content.removeAttribute("aria-busy");
  };
  void load();
  return el(
    "section.quality.stack",
    {},
    el("h2", {}, "Quality"),
    el("p.hint", {}, INTRODUCTION),
    content,
  );
}

const INTRODUCTION =
  "Whether search results are right, by what was judged relevant and not relevant. Figures describe what you judge: judge some results with low scores, too.";
const EXPLANATION =
  "Precision is the share of relevant moments among those with a score from a threshold on. The calibration error is the mean distance of scores from the share that is relevant: 0 % is perfect. nDCG@10 says whether relevant moments come first: 1 is perfect. Ranges are intervals of 90 %.";

function figureSections(index, { all, by_evidence: byEvidence, outdated }) {
  const notes = outdated > 0 ? [el("p.facts", {}, outdatedText(outdated))] : [];
  if (!all.is_enough) return [emptyState(index, all), ...notes];
  const kinds = Object.entries(byEvidence).map(([kind, figures]) =>
    figurePanel("h4", EVIDENCE[kind].name, figures),
  );
  return [
    el("p.hint", {}, EXPLANATION),
    ...notes,
    figurePanel("h3", "All results", all),
    reliabilityDiagram(index, all.bins),
    el(
      "section.stack.tight",
      {},
      el("h3", {}, "By the kind of the strongest evidence"),
      el("div.figures", {}, kinds),
    ),
  ];
}

function outdatedText(outdated) {
  const leftOut = count(outdated, "older judgment");
  return `${leftOut} left out: scores were calibrated anew since. Judge these results again.`;
}

function figurePanel(heading, title, figures) {
  const { judgments, relevant, is_enough: isEnough } = figures;
  const counts = `${count(judgments, "judgment")}, ${relevant.toLocaleString("en")} relevant`;
  const panel = el(
    "section.panel.stack.tight",
    {},
    el("div.row.between", {}, el(heading, {}, title), el("p.facts", {}, counts)),
  );
  if (!isEnough) {
    panel.append(el("p.facts", {}, `Too few to say. ${requirementText(judgments)}`));
    return panel;
  }
  const facts = summaryFacts(figures).map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value)),
  );
  const columns = ["Score", "Judgments", "Precision", "Interval"];
  panel.append(
    el(
      "div.figures",
      {},
      qualityTable(`Precision: ${title}`, columns, precisionRows(figures.precision)),
      el("dl.numbers", {}, facts),
    ),
  );
  return panel;
}

/** Says how to judge. */
function emptyState(index, { judgments }) {
  return el(
    "div.empty.stack.tight",
    {},
    el("h2", {}, "Too few to say"),
    el("p", {}, requirementText(judgments)),
    el(
      "p",
      {},
      "Search for something whose right results you know, and judge each result: with the two buttons on its card, or with + and − while the card has the focus. On the command line, ",
      el("code", {}, "sightline judge FILE.csv"),
      " sends a table.",
    ),
    el("p", {}, el("a", { href: routeHash({ index }) }, "Search this index")),
  );
}

/** Says which calibration is in use, with the switch between its own and the general one. */
function calibrationPanel(index, { quality, settings }, onChanged) {
  const problem = el("div", { role: "alert" });
  const isOn = settings.calibration !== "general";
  const box = el("input", { type: "checkbox", id: "own-calibration", checked: isOn });
  box.addEventListener("change", async () => {
    const calibration = box.checked ? "automatic" : "general";
    box.disabled = true;
    problem.replaceChildren();
    try {
      // Settings are replaced as a whole.
      const { index: record } = await api("GET", indexPath(index, [], { limit: 1 }));
      const body = { settings: { ...record.settings, calibration } };
      await api("PATCH", indexPath(index), { body });
      await onChanged();
      document.querySelector("#own-calibration")?.focus();
      announce("Saved.");
    } catch (error) {
      box.checked = !box.checked;
      box.disabled = false;
      box.focus();
      problem.replaceChildren(errorNotice(error));
    }
  });
  return el(
    "section.panel.stack.tight",
    {},
    el("h3", {}, "Scores in use"),
    el("p", {}, calibrationText(quality.calibration, settings.calibration)),
    el("label.tick", {}, box, "Fit scores to the judgments of this index"),
    el("p.hint", {}, "The order of results stays as it is."),
    problem,
  );
}
