import { el } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { judge, readJudgments } from "./judging.js";
import { readRefinement, refinementText } from "./refinement.js";

const NOTE =
  "Moments that you judged not relevant are left out. Percentages put the results in order, but aren't exact.";

/** Renders what stands above the results of a search: what refines it, and messages of judgments. */
export function openRefinementBar(route) {
  readJudgments(route);
  const message = el("div", { role: "alert", "data-part": "judging-message" });
  return el("div.judging-bar.stack.tight", {}, ...refinementParts(route), message);
}

function refinementParts(route) {
  const refinement = readRefinement(route);
  const last = refinement.at(-1);
  if (!last) return [];
  const undo = el("button.quiet.undo", { type: "button" }, "Undo");
  undo.addEventListener("click", () => judge(route, last.id, null));
  const original = routeHash({ ...route, refined: "" });
  return [
    el(
      "div.notice.refined",
      { role: "group", "aria-label": "Refinement" },
      el("p", {}, refinementText(refinement)),
      el("div.row", {}, undo, el("a", { href: original }, "Show the original results")),
    ),
    el("p.facts", {}, NOTE),
  ];
}
