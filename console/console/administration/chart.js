import { el, shape } from "../shared/element.js";

const HEIGHT = 60;
const STEP = 10;
const BAR = 7;

/**
 * Renders a number for each day as bars, with a table of the same values behind it. `format` makes
 * text of a value, `total` says what the bars add up to.
 */
export function dayChart(title, { days, valueOf, format, total }) {
  const values = days.map(valueOf);
  const most = Math.max(...values);
  const svg = shape("svg", {
    class: "chart",
    viewBox: `0 0 ${days.length * STEP} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `${title}: ${total}. Most on a day: ${format(most)}.`,
  });
  for (const [i, value] of values.entries()) {
    const height = barHeight(value, most);
    const x = i * STEP + (STEP - BAR) / 2;
    const bar = shape("rect", { x, y: HEIGHT - height, width: BAR, height });
    const tooltip = shape("title", {});
    tooltip.textContent = `${days[i].date}: ${format(value)}`;
    bar.append(tooltip);
    svg.append(bar);
  }
  const rows = days.map(({ date }, i) => [date, format(values[i])]).toReversed();
  return figure(title, total, [
    svg,
    el(
      "p.axis.facts",
      { "aria-hidden": "true" },
      el("span", {}, shortDate(days[0].date)),
      el("span", {}, `most ${format(most)}`),
      el("span", {}, shortDate(days.at(-1).date)),
    ),
    dataTable(`${title}, by day`, ["Day (UTC)", "Value"], rows),
  ]);
}

/** Renders values with names as bars from left to right; the text beside them is the table. */
export function namedBars(title, { rows, format, total }) {
  const most = Math.max(...rows.map(({ value }) => value));
  const body = rows.map(({ name, value }) => {
    const svg = shape("svg", {
      class: "bar-line",
      viewBox: "0 0 100 6",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    const width = most > 0 ? (value / most) * 100 : 0;
    svg.append(shape("rect", { x: 0, y: 0, width, height: 6 }));
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", {}, format(value)),
      el("td.wide", {}, svg),
    );
  });
  const head = el("tr.visually-hidden", {}, [
    el("th", { scope: "col" }, "Kind"),
    el("th", { scope: "col" }, "Value"),
    el("th", { scope: "col" }, "Bar"),
  ]);
  return figure(title, total, [
    el("table.bars", {}, el("thead", {}, head), el("tbody", {}, ...body)),
  ]);
}

/** Returns the height of a bar: zero has none, and every other value can be seen. */
export function barHeight(value, most) {
  return value > 0 ? Math.max(1, (value / most) * HEIGHT) : 0;
}

function figure(title, total, content) {
  const caption = el("figcaption", {}, el("h3", {}, title), el("span.facts", {}, total));
  return el("figure.panel.stack.tight", {}, caption, ...content);
}

/** Renders a table that opens on request. */
function dataTable(caption, columns, rows) {
  const head = columns.map((name) => el("th", { scope: "col" }, name));
  const body = rows.map(([name, ...values]) => {
    const cells = values.map((value) => el("td", {}, value));
    return el("tr", {}, el("th", { scope: "row" }, name), cells);
  });
  return el(
    "details.rest",
    {},
    el("summary", {}, "As a table"),
    el(
      "table",
      {},
      el("caption.visually-hidden", {}, caption),
      el("thead", {}, el("tr", {}, head)),
      el("tbody", {}, body),
    ),
  );
}

function shortDate(date) {
  const options = { day: "numeric", month: "short", timeZone: "UTC" };
  return new Date(date).toLocaleDateString([], options);
}
