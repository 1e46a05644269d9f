import { api, indexPath } from "./api.js";
import { el, errorNotice, announce } from "./element.js";
import { momentCard } from "./moment.js";
import { count, LIKELY_SCORE } from "./wording.js";

const PAGE = 24;

/** Shows the results of a search in `outlet`. Aborting the signal leaves `outlet` unchanged. */
export async function showSearch(outlet, { index, query, modes, boxes }, signal) {
  const likely = el("ul.grid", { "aria-label": "Results" });
  const rest = el("ul.grid", { "aria-label": "Less likely results" });
  const restSummary = el("summary", {});
  const restFold = el("details.rest", { hidden: true }, restSummary, rest);
  const more = el("div.more");
  const heading = el("h2.found", {}, "Searching…");
  outlet.replaceChildren(heading, skeleton());

  const load = async (cursor) => {
    const body = { query, modes, use_boxes: boxes, top_k: PAGE, ...(cursor && { cursor }) };
    more.replaceChildren(cursor ? el("p.facts", {}, "Searching…") : "");
    try {
      const page = await api("POST", indexPath(index, "/search"), { body, signal });
      add(page, cursor);
    } catch (error) {
      if (signal.aborted) return;
      if (!cursor) outlet.replaceChildren(more);
      more.replaceChildren(errorNotice(error, () => load(cursor)));
    }
  };

  const add = ({ segments, total, next_cursor: next }, cursor) => {
    if (!cursor) outlet.replaceChildren(heading, likely, restFold, more);
    const cards = segments.map((hit) => ({
      card: momentCard(hit),
      isLikely: hit.score > LIKELY_SCORE,
    }));
    likely.append(...cards.filter(({ isLikely }) => isLikely).map(({ card }) => card));
    rest.append(...cards.filter(({ isLikely }) => !isLikely).map(({ card }) => card));
    const [likelyCount, restCount] = [likely.childElementCount, rest.childElementCount];
    if (likelyCount + restCount === 0) likely.replaceWith(emptyResults(modes));
    restFold.hidden = restCount === 0;
    restFold.open ||= likelyCount === 0;
    restSummary.textContent = likelyCount === 0 ? "Nearest results" : "Less likely results";
    heading.textContent = headline(likelyCount, total, query);
    more.replaceChildren(
      next ? el("button", { type: "button", onclick: () => load(next) }, "Next page") : "",
    );
    (restCount > 0 ? restFold : outlet).append(more);
    if (cursor) cards[0]?.card.querySelector("button").focus();
    announce(heading.textContent);
  };

  await load(undefined);
}

function headline(likelyCount, total, query) {
  if (total === 0) return `No results for “${query}”`;
  if (likelyCount === 0) return `No likely results for “${query}”`;
  return `${count(likelyCount, "moment")} for “${query}”`;
}

function emptyResults(modes) {
  const advice = modes.length > 0 ? "Remove some of the filters, or add" : "Add";
  return el("p.empty", {}, `${advice} videos and images: only assets that are ready are searched.`);
}

function skeleton() {
  const cards = Array.from({ length: 4 }, () => el("li.card.skeleton"));
  return el("ul.grid", { "aria-hidden": "true" }, cards);
}
