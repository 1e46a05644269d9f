import { el } from "../shared/element.js";

/** Renders a table of figures; the first cell of each row is its header. */
export function qualityTable(caption, columns, rows) {
  const head = columns.map((name) => el("th", { scope: "col" }, name));
  const body = rows.map(([name, ...values]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      values.map((value) => el("td", {}, value)),
    ),
  );
  return el(
    "table.quality-table",
    {},
    el("caption.visually-hidden", {}, caption),
    el("thead", {}, el("tr", {}, head)),
    el("tbody", {}, body),
  );
}
