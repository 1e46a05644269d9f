import { indexPath, listen } from "./api.js";
import { el, problem, say } from "./element.js";
import { momentCard, playMoment } from "./moment.js";

/** Fills `outlet` with the answer to a question, as it comes; its `[n]` play what they cite. */
export async function showAnswer(outlet, { index, question }, signal) {
  const heading = el("h2.found", {}, question);
  const waiting = el("div.answer.waiting", {}, el("p.text", {}, "Reading what the index holds…"));
  outlet.replaceChildren(heading, waiting);
  try {
    let text = "";
    const path = indexPath(index, "/answer", { query: question });
    for await (const { event, data } of listen(path, { signal })) {
      if (event === "delta") {
        text += data.text;
        waiting.replaceChildren(el("p.text", {}, text));
      } else if (event === "done") {
        outlet.replaceChildren(heading, ...answered(data));
        say(data.answer);
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    waiting.replaceWith(problem(error, () => showAnswer(outlet, { index, question }, signal)));
  }
}

function answered({ answer, grounded, citations, model, usage }) {
  const cards = new Map(
    citations.map((hit) => [hit.marker, { hit, card: momentCard(hit, hit.marker) }]),
  );
  const text = el("p.text", {}, withMarkers(answer, cards));
  const tokens = `${model} · ${usage.input_tokens} tokens read, ${usage.output_tokens} written`;
  const box = el("div.answer", {}, text, el("p.facts", {}, tokens));
  if (!grounded) {
    box.classList.add("ungrounded");
    box.prepend(el("p.badge", {}, "Not answered by this index"));
    return [box];
  }
  const list = el("ul.grid", { "aria-label": "Cited moments" });
  list.append(...[...cards.values()].map(({ card }) => card));
  return [box, el("h3", {}, "Where this comes from"), list];
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
