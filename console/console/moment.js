import { el } from "./element.js";
import { picture } from "./picture.js";
import { toggleStage } from "./stage.js";
import { EVIDENCE, range } from "./wording.js";

/** A hit as a card of the grid, which plays when it is clicked. `marker` is that of a citation. */
export function momentCard(hit, marker) {
  const when = range(hit);
  const name = `${hit.asset_type === "video" ? "Play" : "Show"} ${hit.title}${when ? `, ${when}` : ""}`;
  const button = el(
    "button.over",
    { type: "button", "aria-expanded": "false", "aria-label": name },
    picture({ url: hit.thumbnail_url, type: hit.asset_type, boxes: hit.boxes }),
    marker ? el("span.marker", {}, String(marker)) : null,
    when ? el("span.tag", {}, when) : null,
  );
  // Its words are the labels.
  const isSeen = hit.evidence.some(({ kind, text }) => kind === "visual" && text);
  const card = el(
    "li.card.moment",
    {},
    button,
    el("div.row.between", {}, el("h3.title", {}, hit.title), score(hit.score)),
    evidenceList(hit),
    isSeen || hit.labels.length === 0 ? null : labelList(hit.labels),
  );
  button.addEventListener("click", () => playMoment(card, hit));
  return card;
}

/** Opens, or closes, the stage of a card. */
export function playMoment(card, hit) {
  toggleStage(card, {
    title: hit.title,
    type: hit.asset_type,
    url: hit.clip_url,
    start: hit.start_seconds,
    end: hit.end_seconds,
    boxes: hit.boxes,
    details: details(hit),
  });
}

/** Marked text of the API: entities and `<mark>`, and nothing else, mean anything in it. */
export function marked(text) {
  const parts = text.split(/<mark>(.*?)<\/mark>/s);
  return parts.map((part, i) => (i % 2 === 1 ? el("mark", {}, unescape(part)) : unescape(part)));
}

const ENTITIES = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

function unescape(text) {
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name) => ENTITIES[name]);
}

/** The words that matched; where only the meaning did, what it was the meaning of. */
function evidenceList(hit) {
  const worded = hit.evidence.filter(({ text }) => text !== undefined);
  const pieces = worded.length > 0 ? worded : hit.evidence;
  const items = pieces.map(({ kind, text }) => {
    const { name, textOf } = EVIDENCE[kind];
    const words = text === undefined ? [textOf(hit)] : marked(text);
    return el("li", {}, el("span.kind", {}, name), " ", el("span.clamp", {}, words));
  });
  return el("ul.evidence", { "aria-label": "Why it matched" }, items);
}

function labelList(labels) {
  return el(
    "ul.labels",
    { "aria-label": "Labels" },
    labels.map((label) => el("li", {}, label)),
  );
}

function score(value) {
  const bar = el("span.score", { title: "1 is certain; 0.5 is as likely relevant as not" });
  const fill = el("span.fill");
  fill.style.inlineSize = `${value * 100}%`;
  bar.append(el("span.track", {}, fill), el("span.unseen", {}, "Score "), value.toFixed(2));
  return bar;
}

function details(hit) {
  const facts = [
    ["Looks like", hit.caption],
    ["Said", hit.transcript],
    ["Written", hit.on_screen_text],
    ["Labels", hit.labels.join(", ")],
    ...Object.entries(hit.metadata).map(([name, value]) => [name, plain(value)]),
  ];
  return [
    el("h3", {}, hit.title),
    el("div.row", {}, range(hit) ? el("span.facts", {}, range(hit)) : null, score(hit.score)),
    factList(facts),
  ];
}

/** Names and values as a description list; what is empty is left out. */
export function factList(facts) {
  const known = facts.filter(([, value]) => value);
  return el(
    "dl",
    {},
    known.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

/** A value of somebody's metadata, for reading. */
export function plain(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
