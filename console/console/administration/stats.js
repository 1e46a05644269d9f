import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { bytes, clock, count, dateTime, percent } from "../shared/wording.js";
import { dayChart, namedBars } from "./chart.js";
import { costsByKind, dollars, fillDays, limitRows, number, sum } from "./usage.js";

/** Opens the statistics of the account: contents, usage, costs and limits. */
export function openStats() {
  const content = el("div.stack", { "aria-busy": "true" }, el("p.facts", {}, "Loading…"));
  const load = async () => {
    try {
      content.replaceChildren(...sections(await api("GET", apiPath(["stats"]))));
      announce("The statistics are loaded.");
    } catch (error) {
      content.replaceChildren(errorNotice(error, load));
    }
    content.removeAttribute("aria-busy");
  };
  void load();
  return el("section.stack", {}, el("h1", {}, "Statistics"), content);
}

function sections(stats) {
  const days = fillDays(stats.usage);
  return [
    el("p.facts", {}, `As of ${dateTime(stats.generated_at)}. Days are in UTC.`),
    section("Contents", contents(stats)),
    section("Usage of the last 30 days", el("div.figures", {}, ...usageCharts(days))),
    section(
      "Costs of the last 30 days",
      el("p.hint", {}, COSTS_ARE_ESTIMATED),
      el("div.figures", {}, ...costCharts(days)),
    ),
    section("Limits", limits(stats)),
  ];
}

const COSTS_ARE_ESTIMATED =
  "An estimate of what this usage costs on Cloudflare, at list prices. A service on your own computer is charged nothing: there it is what the same usage would cost.";

function section(title, ...content) {
  return el("section.stack.tight", {}, el("h2", {}, title), ...content);
}

function contents(stats) {
  const { states } = stats;
  const working = states.queued + states.processing;
  const facts = [
    ["Indices", number(stats.indices)],
    ["Videos", number(stats.videos)],
    ["Images", number(stats.images)],
    ["Moments", number(stats.segments)],
    ["Length of all videos", clock(stats.duration_seconds)],
    ["Stored files", bytes(stats.size_bytes)],
    ["Ready", number(states.ready)],
    ["In progress", number(working)],
    ["Failed", number(states.failed)],
  ];
  const items = facts.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value)),
  );
  return el("dl.panel.numbers", {}, items);
}

function usageCharts(days) {
  const chart = (title, [noun, plural], valueOf, digits = 0) => {
    const format = (value) => number(value, digits);
    const all = sum(days.map(valueOf));
    const total =
      digits > 0 ? `${format(all)} ${plural} in all` : `${count(all, noun, plural)} in all`;
    return dayChart(title, { days, valueOf, format, total });
  };
  return [
    chart("Searches", ["search", "searches"], ({ searches = 0 }) => searches),
    chart("Answers", ["answer", "answers"], ({ answers = 0 }) => answers),
    chart(
      "Video added",
      ["minute", "minutes"],
      ({ ingested_seconds: seconds = 0 }) => seconds / 60,
      1,
    ),
    chart("Images added", ["image", "images"], ({ ingested_images: images = 0 }) => images),
  ];
}

function costCharts(days) {
  const costOf = ({ estimated_cost_usd: cost = 0 }) => cost;
  const total = `${dollars(sum(days.map(costOf)))} in all, estimated`;
  return [
    dayChart("Cost", { days, valueOf: costOf, format: dollars, total }),
    namedBars("Cost by kind", { rows: costsByKind(days), format: dollars, total }),
  ];
}

function limits(stats) {
  const rows = limitRows(stats).map(({ name, limit, used, share }) =>
    el(
      "li.limit",
      {},
      el("span", {}, name),
      el(
        "span.facts",
        {},
        used === null ? `up to ${limit}` : `${used} of ${limit} · ${percent(share)}`,
      ),
      share === null ? null : el("progress", { max: 1, value: share, "aria-label": name }),
    ),
  );
  return el("ul.panel.limits", {}, rows);
}
