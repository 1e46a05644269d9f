import { apiPath, indexPath } from "../shared/api-path.js";
import { api, streamAnswer } from "../shared/api.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { authorOf, searchMatchOf } from "../shared/wording.js";
import { addOrigin } from "./hit-terms.js";
import { rememberAuthor } from "./language-model.js";
import { captionNote } from "./media-details.js";
import { momentCard, playMoment } from "./moment.js";
import { partialNotice } from "./partial-notice.js";
import { isVideo, placeOf } from "./scope.js";
import { indicesText } from "./searched-indices.js";

/** Streams the answer to a question into `outlet`. Its markers `[n]` play the cited moments. */
export async function showAnswer(outlet, route, signal) {
  const heading = el("h2.found", {}, route.question);
  const waiting = el("div.answer.waiting", {}, el("p.text", {}, "Searching for evidence…"));
  outlet.replaceChildren(heading, waiting);
  try {
    let text = "";
    for await (const { event, data } of streamAnswer(answerPath(route), { signal })) {
      if (event === "delta") {
        text += data.text;
        waiting.replaceChildren(el("p.text", {}, text));
      } else if (event === "done") {
        rememberAuthor(data.model);
        const isEmpty = !data.grounded && (await isIndexEmpty(route, signal));
        const missing = partialNotice(data.partial);
        outlet.replaceChildren(heading, ...missing, ...renderAnswer(data, { ...route, isEmpty }));
        announce(data.answer);
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    const retry = error.isFinal ? undefined : () => showAnswer(outlet, route, signal);
    waiting.replaceWith(errorNotice(error, retry));
  }
}

/** Returns the request for an answer: from an index or several, from one video or a part, or an image. */
function answerPath({ index, question: query, fromImages, scope, indices }) {
  if (indices.length > 0) return apiPath(["answer"], { query, index_names: indices });
  if (scope === null) return indexPath(index, [fromImages ? "answer_vqa" : "answer"], { query });
  if (!isVideo(scope)) return indexPath(index, ["answer_vqa"], { query, asset_ids: scope.id });
  const range = { start_time: scope.start, ...(scope.end !== null && { end_time: scope.end }) };
  return indexPath(index, [scope.id, "answer_vqa"], { query, ...range });
}

/** Resolves to whether an index has nothing that could answer; false if that isn't known. */
async function isIndexEmpty({ index, scope, indices }, signal) {
  if (scope !== null || indices.length > 0) return false;
  try {
    const path = indexPath(index, [], { limit: 1, state: "ready" });
    return (await api("GET", path, { signal })).total === 0;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function renderAnswer({ answer, grounded, citations, related, model }, route) {
  const { scope, indices, isEmpty } = route;
  const place = indices.length > 0 ? indicesText(indices) : placeOf(scope);
  if (isEmpty) return [el("p.empty", {}, EMPTY)];
  const cardOf = (hit, options) => {
    const card = momentCard(hit, options);
    addOrigin(card, hit, route);
    return card;
  };
  const cards = new Map(
    citations.map((hit) => [hit.marker, { hit, card: cardOf(hit, { marker: hit.marker }) }]),
  );
  const text = el("p.text", {}, withMarkers(answer, cards));
  const box = el("div.answer", {}, text);
  if (!grounded) {
    box.classList.add("ungrounded");
    box.prepend(el("p.badge", {}, `No answer found in ${place}`));
    if (model === "extractive") box.append(el("p.facts", {}, QUOTES_ONLY));
    if (related.length === 0) return [box];
    const closest = el("ul.grid", { "aria-label": "Closest moments" });
    closest.append(...related.map((hit) => cardOf(hit, { match: searchMatchOf(hit) })));
    const note = "They match a search for the question, and may or may not answer it.";
    const notes = [el("p.facts", {}, note), closest, ...captionNote(related)];
    return [box, el("h3", {}, "Closest moments"), ...notes];
  }
  const variable = el("code", {}, "LOCAL_LLM_URL");
  const advice = [
    " If this service runs offline, ",
    variable,
    " lets a language model write answers.",
  ];
  box.append(el("p.facts", {}, authorOf(model), model === "extractive" ? advice : []));
  const list = el("ul.grid", { "aria-label": "Cited moments" });
  list.append(...[...cards.values()].map(({ card }) => card));
  return [box, el("h3", {}, "Sources"), list];
}

const QUOTES_ONLY =
  "Without a language model, only sentences that surely answer a question are quoted: many " +
  "questions go unanswered although the answer is there.";
const EMPTY = "Nothing in this index is ready yet: add videos and images, then ask again.";

function withMarkers(text, cards) {
  return text.split(/\[(\d+)\]/).map((part, i) => {
    const cited = i % 2 === 1 && cards.get(Number(part));
    if (!cited) return i % 2 === 1 ? `[${part}]` : part;
    const play = () => playMoment(cited.card, cited.hit);
    const label = `Play citation ${part}: ${cited.hit.title}`;
    return el("button.cite", { type: "button", "aria-label": label, onclick: play }, part);
  });
}
