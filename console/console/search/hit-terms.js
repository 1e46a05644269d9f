import { el } from "../shared/element.js";
import { imageFrame } from "../shared/image-frame.js";
import { routeHash } from "../shared/route.js";
import { clock, EVIDENCE, percent } from "../shared/wording.js";
import { marked, playMoment } from "./moment.js";

/**
 * Adds to the card of a hit what a search asked for beside its words: the steps of a sequence in
 * place of its evidence, or how well each condition holds. Of several indices, each hit names its own.
 */
export function addHitTerms(card, hit, { indices }) {
  const { steps = [], conditions = [] } = hit;
  const evidence = card.querySelector(".evidence");
  if (steps.length > 0) evidence.replaceWith(stepList(card, hit));
  else if (conditions.length > 0) evidence.after(conditionList(conditions));
  addOrigin(card, hit, { indices });
}

/** Names the index of a hit on its card, with a link, if several indices are searched. */
export function addOrigin(card, { index_name: index }, { indices }) {
  if (indices.length === 0) return;
  const link = el("a", { href: routeHash({ index }), dir: "auto" }, index);
  card.querySelector(".title").after(el("p.facts.origin", {}, "In ", link));
}

function stepList(card, hit) {
  const items = hit.steps.map((step, i) => {
    const { segment, score } = step;
    const name = nameOf(step);
    const time = clock(segment.start_seconds);
    const button = el(
      "button.over",
      { type: "button", onclick: () => playStep(card, hit, segment) },
      el("span.visually-hidden", {}, `Play step ${i + 1}, ${name}, at ${time}`),
      imageFrame({ url: segment.thumbnail_url, type: segment.asset_type }),
      el("span.tag", {}, time),
    );
    const text = el("span.title", { dir: "auto", title: name }, name);
    return el(
      "li",
      {},
      button,
      text,
      el("span.facts", {}, [percent(score), ...kindsOf(step)].join(" · ")),
    );
  });
  return el("ol.steps", { "aria-label": "Steps" }, items);
}

/** Plays a sequence from one of its steps on: in the player, if it is open. */
function playStep(card, hit, { start_seconds: start }) {
  const stage = card.nextElementSibling?.matches(".stage") ? card.nextElementSibling : null;
  const video = stage?.querySelector("video, audio");
  if (!video) return playMoment(card, { ...hit, start_seconds: start });
  video.currentTime = start;
  void video.play();
}

function conditionList(conditions) {
  const items = conditions.map((condition) => {
    const { kind, score, evidence } = condition;
    const name = el("bdi", {}, nameOf(condition));
    const because = kind === "none" ? examinedText(evidence) : evidence.flatMap(evidenceText);
    return el(
      "li",
      {},
      el("span.kind", {}, kind === "none" ? "Without" : "With"),
      " ",
      el("span.clamp", {}, name, ` (${percent(score)})`, because),
    );
  });
  return el("ul.evidence.conditions", { "aria-label": "Conditions" }, items);
}

function evidenceText({ kind, text }) {
  return text ? [` · ${nameOfKind(kind)}: `, ...marked(text)] : [` · ${nameOfKind(kind)}`];
}

/** Says where a thing was looked for that isn't there: evidence of each kind is that it is there. */
function examinedText(evidence) {
  const kinds = evidence.map(({ kind }) => nameOfKind(kind).toLowerCase());
  return kinds.length > 0 ? ` · examined: ${kinds.join(", ")}` : "";
}

function nameOf({ query }) {
  return query ?? "like the example";
}

function kindsOf({ evidence }) {
  return evidence.map(({ kind }) => nameOfKind(kind));
}

function nameOfKind(kind) {
  return EVIDENCE[kind]?.name ?? kind;
}
