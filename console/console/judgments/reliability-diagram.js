import { download } from "../shared/download.js";
import { el, shape } from "../shared/element.js";
import { qualityTable } from "./quality-table.js";
import { formatPoints, interval, pointRows, share } from "./quality-wording.js";

/** Position and length of the axes in the picture. */
const AXES = { left: 46, top: 24, length: 260 };
const SIZE = { width: 330, height: 330 };
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const RADIUS = 4;

/** Renders the reliability diagram of an index, its points as a table, and their download. */
export function reliabilityDiagram(index, bins) {
  const save = () => download(`${index}-reliability.csv`, "text/csv", formatPoints(bins));
  const columns = ["Mean score", "Judgments", "Relevant", "Interval"];
  return el(
    "figure.panel.stack.tight",
    {},
    el("figcaption", {}, el("h3", {}, "Reliability")),
    el(
      "p.hint",
      {},
      "On the dashed line, scores are right: of results with 70 %, 7 of 10 are relevant.",
    ),
    el(
      "div.figures",
      {},
      drawDiagram(bins),
      el(
        "div.stack.tight",
        {},
        qualityTable("Points of the reliability diagram", columns, pointRows(bins)),
        el("div.row", {}, el("button.quiet", { type: "button", onclick: save }, "Download as CSV")),
      ),
    ),
  );
}

const toX = (value) => AXES.left + value * AXES.length;
const toY = (value) => AXES.top + (1 - value) * AXES.length;

function drawDiagram(bins) {
  const svg = shape("svg", {
    class: "reliability",
    viewBox: `0 0 ${SIZE.width} ${SIZE.height}`,
    role: "img",
    "aria-label": `Reliability diagram with ${bins.length} points, which the table has as well.`,
  });
  for (const tick of TICKS) {
    svg.append(
      line("grid-line", { x1: toX(0), y1: toY(tick), x2: toX(1), y2: toY(tick) }),
      label(share(tick), { x: toX(0) - 6, y: toY(tick) + 4, "text-anchor": "end" }),
      label(share(tick), { x: toX(tick), y: toY(0) + 18, "text-anchor": "middle" }),
    );
  }
  svg.append(
    shape("path", { class: "axes", d: `M${toX(0)} ${toY(1)}V${toY(0)}H${toX(1)}` }),
    line("diagonal", { x1: toX(0), y1: toY(0), x2: toX(1), y2: toY(1) }),
    label("Relevant", { x: 4, y: 12 }),
    label("Mean score", { x: toX(1), y: SIZE.height - 8, "text-anchor": "end" }),
    ...bins.map(drawPoint),
  );
  return svg;
}

function drawPoint({ judgments, predicted, observed, low, high }) {
  const x = toX(predicted);
  const tooltip = shape("title", {});
  tooltip.textContent = `Mean score ${share(predicted)}, relevant ${share(observed)} (${interval({ low, high })}), judgments ${judgments}`;
  return shape(
    "g",
    {},
    tooltip,
    line("interval", { x1: x, y1: toY(low), x2: x, y2: toY(high) }),
    shape("circle", { cx: x, cy: toY(observed), r: RADIUS }),
  );
}

function line(name, ends) {
  return shape("line", { class: name, ...ends });
}

function label(text, attributes) {
  const node = shape("text", attributes);
  node.textContent = text;
  return node;
}
