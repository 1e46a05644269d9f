import { indexPath, streamAnswer } from "./api.js";
import { el, errorNotice, announce } from "./element.js";
import { momentCard, playMoment } from "./moment.js";
import { authorOf } from "./wording.js";

/** Streams the answer to a question into `outlet`. Its markers `[n]` play the cited moments. */
export async function showAnswer(outlet, { index, question }, signal) {
  const heading = el("h2.found", {}, question);
  const waiting = el("div.answer.waiting", {}, el("p.text", {}, "Searching for evidence…"));
  outlet.replaceChildren(heading, waiting);
  try {
    let text = "";
    const path = indexPath(index, "/answer", { query: question });
    for await (const { event, data } of streamAnswer(path, { signal })) {
      if (event === "delta") {
        text += data.text;
        waiting.replaceChildren(el("p.text", {}, text));
      } else if (event === "done") {
        outlet.replaceChildren(heading, ...renderAnswer(data));
        announce(data.answer);
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    waiting.replaceWith(errorNotice(error, () => showAnswer(outlet, { index, question }, signal)));
  }
}

function renderAnswer({ answer, grounded, citations, related, model }) {
  const cards = new Map(
    citations.map((hit) => [hit.marker, { hit, card: momentCard(hit, hit.marker) }]),
  );
  const text = el("p.text", {}, withMarkers(answer, cards));
  const box = el("div.answer", {}, text);
  if (!grounded) {
    box.classList.add("ungrounded");
    box.prepend(el("p.badge", {}, "No answer in this index"));
    if (related.length === 0) return [box];
    const closest = el("ul.grid", { "aria-label": "Closest moments" });
    closest.append(...related.map((hit) => momentCard(hit)));
    const note = el("p.facts", {}, "Found by search. They don't answer the question.");
    return [box, el("h3", {}, "Closest moments"), note, closest];
  }
  box.append(el("p.facts", {}, authorOf(model)));
  const list = el("ul.grid", { "aria-label": "Cited moments" });
  list.append(...[...cards.values()].map(({ card }) => card));
  return [box, el("h3", {}, "Sources"), list];
}

function withMarkers(text, cards) {
  return text.split(/\[(\d+)\]/).map((part, i) => {
    const cited = i % 2 === 1 && cards.get(Number(part));
    if (!cited) return i % 2 === 1 ? `[${part}]` : part;
    const play = () => playMoment(cited.card, cited.hit);
    const label = `Play citation ${part}: ${cited.hit.title}`;
    return el("button.cite", { type: "button", "aria-label": label, onclick: play }, part);
  });
}
