import { dayChart } from "../administration/chart.js";
import { captionNote } from "../search/media-details.js";
import { momentCard } from "../search/moment.js";
import { announce, el } from "../shared/element.js";
import { calibrationNote, count } from "../shared/wording.js";
import { chartDays, findThreshold, precisionText, toPercent } from "./watch-wording.js";

/**
 * Renders the result of a preview. `update` shows it for another probability in percent. `onChoose`
 * gets a probability that is chosen in the table, `onRepeat` runs the preview for one that it lacks;
 * there is no button for that without it.
 */
export function watchPreview(result, { onChoose, onRepeat }) {
  const previewed = toPercent(result.min_probability);
  const headline = el("p");
  const repeat = el("button.quiet", { type: "button", onclick: onRepeat }, "");
  const rows = result.thresholds.map((row) => thresholdRow(row, onChoose));
  const columns = COLUMNS.map((name) => el("th", { scope: "col" }, name));
  const table = el(
    "table.thresholds",
    {},
    el("caption.visually-hidden", {}, "Matches by lowest probability"),
    el("thead", {}, el("tr", {}, columns)),
    el("tbody", {}, rows),
  );
  const notes = [calibrationNote(result.calibration), INTERVALS].filter(Boolean);
  const summary = el(
    "div.panel.stack.tight",
    {},
    el("h3", {}, "Preview"),
    el("div.row.between", {}, headline, repeat),
    table,
    el("p.hint", {}, notes.join(" ")),
  );
  const moments = [...result.best, ...result.nearest_threshold];

  const update = (percent) => {
    const row = findThreshold(result, percent);
    const text = headlineOf(row, percent);
    if (text !== headline.textContent) announce(text);
    headline.textContent = text;
    repeat.textContent = row ? `Show moments from ${percent} %` : `Preview from ${percent} %`;
    repeat.hidden = !onRepeat || percent === previewed;
    for (const [i, { min_probability: threshold }] of result.thresholds.entries()) {
      if (toPercent(threshold) === percent) rows[i].setAttribute("aria-current", "true");
      else rows[i].removeAttribute("aria-current");
    }
  };
  update(previewed);
  const root = el("div.stack", {}, summary, ...charts(result), ...examples(result, previewed));
  root.append(...captionNote(moments));
  return { root, update };
}

const COLUMNS = ["Lowest probability", "Matches", "Should be right"];
const INTERVALS =
  "The share that should be right is the mean of the scores; the true one is between the two numbers in brackets in 19 of 20 cases.";

function headlineOf(row, percent) {
  if (row === null) return `${percent} % wasn't previewed.`;
  if (row.matches === 0) return `From ${percent} %, nothing in this index would have matched.`;
  const what = count(row.matches, "moment");
  return `From ${percent} %, ${what} of this index would have matched.`;
}

function thresholdRow(row, onChoose) {
  const percent = toPercent(row.min_probability);
  const label = `${percent} % as lowest probability`;
  const onclick = () => onChoose(percent);
  const attributes = { type: "button", "aria-label": label, onclick };
  const choose = el("button.quiet.faint", attributes, `${percent} %`);
  const cells = [row.matches.toLocaleString("en"), precisionText(row)];
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, choose),
    cells.map((text) => el("td", {}, text)),
  );
}

function charts({ matches_by_day: byDay, matches }) {
  if (matches === 0) return [];
  const days = chartDays(byDay);
  const format = (value) => value.toLocaleString("en");
  const total = `${count(matches, "match", "matches")} on ${count(byDay.length, "day")}`;
  return [
    dayChart("Matches by day of adding", { days, valueOf: (day) => day.matches, format, total }),
  ];
}

function examples({ best, nearest_threshold: nearest }, percent) {
  const section = (title, hint, moments) =>
    moments.length === 0
      ? []
      : [
          el(
            "section.stack.tight",
            {},
            el("h3", {}, title),
            el("p.hint", {}, hint),
            el(
              "ul.grid",
              { "aria-label": title },
              moments.map((hit) => momentCard(hit)),
            ),
          ),
        ];
  return [
    ...section("Best matches", "At most ten, with the highest scores first.", best),
    ...section(
      `Nearest to ${percent} %`,
      "Above or below. If those above aren't what you mean, choose a higher probability; if those below are, a lower one.",
      nearest,
    ),
  ];
}
