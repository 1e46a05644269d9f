import { el } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { judge, readJudgments, skipResults } from "./judging.js";
import { lastJudgment, readRefinement, refinementText } from "./refinement.js";

const NOTE =
  "Moments that you judged not relevant are left out. Percentages put the results in order, but aren't exact.";
const NEW_ONLY = "Leaves out the results on this page that you didn't judge";

/** Renders what stands above the results of a search: what refines it, and messages of judgments. */
export function openRefinementBar(route) {
  readJudgments(route);
  const message = el("div", { role: "alert", "data-part": "judging-message" });
  return el("div.judging-bar.stack.tight", {}, ...refinementParts(route), message);
}

function refinementParts(route) {
  const refinement = readRefinement(route);
  if (refinement.length === 0) return [];
  const last = lastJudgment(refinement);
  const undo = el("button.quiet.undo", { type: "button" }, "Undo");
  undo.addEventListener("click", () => judge(route, last.id, null));
  const renew = el("button.quiet", { type: "button", title: NEW_ONLY }, "New results only");
  renew.addEventListener("click", () => skipResults(route));
  const original = routeHash({ ...route, refined: "" });
  const showOriginal = el("a", { href: original }, "Show the original results");
  return [
    el(
      "div.notice.refined",
      { role: "group", "aria-label": "Refinement" },
      el("p", {}, refinementText(refinement)),
      el("div.row", {}, last ? [undo, renew] : [], showOriginal),
    ),
    el("p.facts", {}, NOTE),
  ];
}
