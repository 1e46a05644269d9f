import { el } from "../shared/element.js";
import { count } from "../shared/wording.js";

/** Says which indices are missing from a response, and why; nothing if all answered. */
export function partialNotice(partial = []) {
  if (partial.length === 0) return [];
  const items = partial.map(({ index_name: name, reason }) => {
    return el("li", {}, el("b", {}, name), `: ${reason}`);
  });
  const text = `Not everything was searched: ${count(partial.length, "index is", "indices are")} missing.`;
  return [
    el("div.notice", { role: "status" }, el("div", {}, el("p", {}, text), el("ul", {}, items))),
  ];
}
