import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { count } from "../shared/wording.js";

/** Opens how right the results of an index are by its judgments. */
export function openQuality(index) {
  const content = el("div.stack", { "aria-busy": "true" }, el("p.facts", {}, "Loading…"));
  const load = async () => {
    try {
      const quality = await api("GET", indexPath(index, ["quality"]));
      content.replaceChildren(...qualitySections(index, quality));
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
  "How many results were judged, and how many of them are relevant, by score. Scores are right if about as many are relevant as they say. Judge some results with low scores, too.";

function qualitySections(index, { judged, right, unfound, outdated, tenths }) {
  if (judged === 0) return [emptyState(index)];
  const facts = [`${count(judged, "judgment")}, ${right.toLocaleString("en")} relevant.`];
  if (unfound > 0) facts.push(`${count(unfound, "judgment")} of moments that no search found.`);
  if (outdated > 0) facts.push(`${count(outdated, "judgment")} left out: scores changed since.`);
  return [el("p.facts", {}, facts.join(" ")), tenthsTable(tenths)];
}

/** Renders a row for each tenth of the score, the highest first. */
function tenthsTable(tenths) {
  const rows = tenths.toReversed().map(({ from, judged, right }) => {
    const share = judged === 0 ? "–" : `${Math.round((100 * right) / judged)} %`;
    const values = [judged.toLocaleString("en"), right.toLocaleString("en"), share];
    const low = Math.round(100 * from);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, `${low}–${low + 10} %`),
      values.map((value) => el("td", {}, value)),
    );
  });
  const head = ["Score", "Judged", "Relevant", "Share"].map((name) =>
    el("th", { scope: "col" }, name),
  );
  return el(
    "table.quality-table",
    {},
    el("caption.visually-hidden", {}, "Judgments by score"),
    el("thead", {}, el("tr", {}, head)),
    el("tbody", {}, rows),
  );
}

/** Says how to judge. */
function emptyState(index) {
  return el(
    "div.empty.stack.tight",
    {},
    el("h2", {}, "Nothing is judged yet"),
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
