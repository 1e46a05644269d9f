import { api, indexPath } from "./api.js";
import { el, problem, say } from "./element.js";
import { momentCard } from "./moment.js";
import { count } from "./wording.js";

const PAGE = 24;
/** The score of what is as likely relevant as not. */
const LIKELY = 0.5;

/** Fills `outlet` with what a search finds; aborting the signal leaves it to the next. */
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
      more.replaceChildren(problem(error, () => load(cursor)));
    }
  };

  const add = ({ segments, total, next_cursor: next }, cursor) => {
    if (!cursor) outlet.replaceChildren(heading, likely, restFold, more);
    const cards = segments.map((hit) => ({ card: momentCard(hit), isLikely: hit.score > LIKELY }));
    likely.append(...cards.filter(({ isLikely }) => isLikely).map(({ card }) => card));
    rest.append(...cards.filter(({ isLikely }) => !isLikely).map(({ card }) => card));
    const [good, other] = [likely.childElementCount, rest.childElementCount];
    if (good + other === 0) likely.replaceWith(nothing(modes));
    restFold.hidden = other === 0;
    restFold.open ||= good === 0;
    restSummary.textContent = good === 0 ? "The nearest there is" : "Less likely";
    heading.textContent = headline(good, total, query);
    more.replaceChildren(
      next ? el("button", { type: "button", onclick: () => load(next) }, "Next page") : "",
    );
    (other > 0 ? restFold : outlet).append(more);
    if (cursor) cards[0]?.card.querySelector("button").focus();
    say(heading.textContent);
  };

  await load(undefined);
}

function headline(good, total, query) {
  if (total === 0) return `Nothing found for “${query}”`;
  if (good === 0) return `Nothing matches “${query}” well`;
  return `${count(good, "moment")} for “${query}”`;
}

function nothing(modes) {
  const what = modes.length > 0 ? "Take some of the filters away, or a" : "A";
  return el("p.empty", {}, `${what}dd videos and images: only what is ready is searched.`);
}

function skeleton() {
  const cards = Array.from({ length: 4 }, () => el("li.card.skeleton"));
  return el("ul.grid", { "aria-hidden": "true" }, cards);
}
