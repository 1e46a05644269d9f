import { acceptJudgingKeys, addThumbs } from "../judgments/judging.js";
import { openRefinementBar } from "../judgments/refinement-bar.js";
import { readRefinement, refinementText } from "../judgments/refinement.js";
import { readResultFocus } from "../judgments/result-focus.js";
import { canJudge } from "../judgments/send-judgment.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { calibrationNote, count, LIKELY_SCORE } from "../shared/wording.js";
import { watchLink } from "../watches/watch-link.js";
import { openFacets } from "./facets.js";
import { listRules, OPERATORS } from "./filter-rules.js";
import { addHitTerms } from "./hit-terms.js";
import { captionNote, sightNote } from "./media-details.js";
import { momentCard } from "./moment.js";
import { partialNotice } from "./partial-notice.js";
import { openResultLayout } from "./result-layout.js";
import { acceptScrubbing } from "./scrubbing.js";
import { runSearch } from "./search-request.js";
import { isFile } from "./search-state.js";
import { indicesText } from "./searched-indices.js";
import { foldSpelling } from "./spelling.js";
import { hasSteps, isComposed } from "./terms.js";
import { wordNotes } from "./word-notes.js";

/** Shows the results of a search in `outlet`. Aborting the signal leaves `outlet` unchanged. */
export async function showSearch(outlet, route, signal) {
  const likely = el("ul.grid", { "aria-label": "Results" });
  const rest = el("ul.grid", { "aria-label": "Less likely results" });
  const restSummary = el("summary", {});
  const restFold = el("details.rest", { hidden: true }, restSummary, rest);
  const more = el("div.more");
  const heading = el("h2.found", {}, "Searching…");
  const note = el("p.facts", { hidden: true });
  const words = el("div");
  const origin = el("div");
  const bar = openRefinementBar(route);
  const judgeable = canJudge(route);
  const layout = openResultLayout(route, [likely, rest]);
  [likely, rest].forEach(acceptJudgingKeys);
  // Results that are there are those of the same search, which is refined.
  if (outlet.querySelector(".moment")) outlet.setAttribute("aria-busy", "true");
  else outlet.replaceChildren(heading, skeleton());

  const load = async (cursor) => {
    more.replaceChildren(cursor ? el("p.facts", {}, "Searching…") : "");
    const onStep = (text) => (heading.textContent = text);
    try {
      const page = await runSearch(route, { cursor, signal, onStep });
      add(page, cursor, await judgeable);
    } catch (error) {
      if (signal.aborted) return;
      outlet.removeAttribute("aria-busy");
      if (!cursor) outlet.replaceChildren(bar, more);
      more.replaceChildren(errorNotice(error, error.isFinal ? undefined : () => load(cursor)));
    }
  };

  const add = (page, cursor, isJudgeable) => {
    if (signal.aborted) return;
    const { segments, total, next_cursor: next, note: text, query, calibration, partial } = page;
    const focusSame = readResultFocus(outlet);
    if (!cursor) {
      restFold.open = outlet.querySelector("details.rest")?.open === true;
      const switches = segments.length > 0 ? layout.root : null;
      const watch = watchLink(route, query?.corrected);
      const top = el("div.row.between", {}, heading, el("div.row", {}, switches, watch));
      const hasFacets = segments.length > 0 && !isFile(route.example);
      const facets = hasFacets ? [openFacets(route, segments, signal)] : [];
      outlet.replaceChildren(top, bar, words, note, ...facets, likely, restFold, more, origin);
      outlet.removeAttribute("aria-busy");
    }
    const isFilteredOut = !cursor && segments.length === 0 && Object.keys(route.filter).length > 0;
    const isUnlikely =
      !cursor && !isFilteredOut && !segments.some(({ score }) => score > LIKELY_SCORE);
    words.replaceChildren(
      ...(isFilteredOut ? [el("p", { dir: "auto" }, filterText(route.filter))] : []),
      ...partialNotice(partial),
      ...wordNotes(route, query),
      ...(isUnlikely ? sightNote(segments) : []),
    );
    note.textContent = [text, calibrationNote(calibration)].filter(Boolean).join(" ");
    note.hidden = note.textContent === "";
    const cards = segments.map((hit) => ({
      hit,
      card: momentCard(hit),
      isLikely: hit.score > LIKELY_SCORE,
    }));
    cards.forEach(({ card }, i) => addHitTerms(card, segments[i], route));
    if (isJudgeable) cards.forEach(({ card }, i) => addThumbs(card, segments[i], route));
    cards.forEach(({ card, hit }) => acceptScrubbing(card, hit));
    const likelyCount = layout.add(
      likely,
      cards.filter(({ isLikely }) => isLikely),
    );
    const restCount = layout.add(
      rest,
      cards.filter(({ isLikely }) => !isLikely),
    );
    if (likelyCount + restCount === 0) likely.replaceWith(emptyResults(route));
    restFold.hidden = restCount === 0;
    restFold.open ||= likelyCount === 0;
    restSummary.textContent = likelyCount === 0 ? "Nearest results" : "Less likely results";
    heading.textContent = headline(likelyCount, total, route, query?.corrected);
    if (!origin.firstChild) origin.append(...captionNote(segments));
    more.replaceChildren(
      next ? el("button", { type: "button", onclick: () => load(next) }, "Next page") : "",
    );
    (restCount > 0 ? restFold : outlet).append(more);
    if (cursor) cards[0]?.card.querySelector("button").focus();
    else focusSame();
    announce([...refinementNotes(route), heading.textContent].join(". "));
  };

  await load(undefined);
}

function refinementNotes(route) {
  const refinement = readRefinement(route);
  return refinement.length > 0 ? [refinementText(refinement)] : [];
}

/** Names what a search looks for, words, an example, steps, conditions, and where. */
function target({ query, example, scope, indices, ...terms }, corrected) {
  const { steps, all, none } = terms;
  const isSameSpelling = corrected && foldSpelling(corrected) === foldSpelling(query);
  const quoted = (texts, word) => texts.map((text) => `${word} “${text}”`);
  const parts = [
    ...(example ? [`like “${example.name || "the example"}”`] : []),
    ...quoted(query ? [isSameSpelling ? query : (corrected ?? query)] : [], "for"),
    ...quoted(steps, "then"),
    ...quoted(all, "with"),
    ...quoted(none, "without"),
  ];
  const what = parts.join(", ");
  if (indices.length > 0) return `${what} in ${indicesText(indices)}`;
  return scope ? `${what} in “${scope.name || "one of them"}”` : what;
}

function headline(likelyCount, total, route, corrected) {
  const what = target(route, corrected);
  if (total === 0) return `No results ${what}`;
  if (likelyCount === 0) return `No likely results ${what}`;
  return `${count(likelyCount, hasSteps(route) ? "sequence" : "moment")} ${what}`;
}

/** Says which filter leaves nothing over. */
function filterText(filter) {
  const rules = listRules(filter).map(
    ({ field, operator, value }) => `“${field} ${OPERATORS[operator]} ${value}”`,
  );
  return `Nothing that this search finds passes the filter ${rules.join(" and ")}.`;
}

function emptyResults({ modes, topP, filter, scope, ...search }) {
  const isNarrow =
    scope || isComposed(search) || modes.length > 0 || topP > 0 || Object.keys(filter).length > 0;
  const advice = isNarrow ? "Remove some of the filters, or add" : "Add";
  return el("p.empty", {}, `${advice} videos and images: only assets that are ready are searched.`);
}

function skeleton() {
  const cards = Array.from({ length: 4 }, () => el("li.card.skeleton"));
  return el("ul.grid", { "aria-hidden": "true" }, cards);
}
