import { toggleStage } from "../player/stage.js";
import { el, folderLine, titleHeading } from "../shared/element.js";
import { imageFrame } from "../shared/image-frame.js";
import { count, EVIDENCE, likelihoodOf, percent, range } from "../shared/wording.js";
import { factList, isTemplateCaption, plain, videoTools } from "./media-details.js";
import { momentActions, scopeButton } from "./moment-actions.js";
import { isViewed, markViewed } from "./viewed-moments.js";

/**
 * Card of a hit, which plays when it is clicked. `marker` is the number of a citation. `match` says
 * how well the hit matches.
 */
export function momentCard(hit, { marker, match = relevance(hit) } = {}) {
  const when = range(hit);
  const name = `${hit.asset_type === "video" ? "Play" : "Show"} ${hit.title}`;
  const { thumbnail_url: url, asset_type: type, boxes, mask } = hit;
  const button = el(
    "button.over",
    { type: "button", "aria-expanded": "false" },
    el("span.visually-hidden", {}, name),
    imageFrame({ url, type, boxes, mask, sound: soundOf(hit) }),
    marker ? el("span.marker", {}, String(marker)) : null,
    when ? el("span.tag", {}, when) : null,
  );
  if (isViewed(hit.segment_id)) button.append(viewedMark());
  // The text of visual evidence is the labels.
  const hasLabelEvidence = hit.evidence.some(({ kind, text }) => kind === "visual" && text);
  const card = el(
    "li.card.moment",
    {},
    button,
    titleHeading(hit.title),
    el("p.facts", {}, [match, duplicatesOf(hit)].filter(Boolean).join(" · ")),
    folderLine(hit.folder),
    evidenceList(hit),
    hasLabelEvidence || hit.labels.length === 0 ? null : labelList(hit.labels),
    momentActions(hit),
  );
  button.addEventListener("click", () => playMoment(card, hit, match));
  return card;
}

/** Names what may be sound: a moment of a video without a keyframe. Null for others. */
function soundOf(hit) {
  if (hit.asset_type !== "video" || hit.thumbnail_url !== null) return null;
  const { index_name: index, asset_id: id, start_seconds: start, end_seconds: end } = hit;
  return { index, id, start, end };
}

/** Opens or closes the player of a card. */
export function playMoment(card, hit, match = relevance(hit)) {
  const { title, asset_type: type, boxes, mask } = hit;
  const [url, start, end] = [hit.clip_url, hit.start_seconds, hit.end_seconds];
  const video = { index: hit.index_name, id: hit.asset_id };
  const media = { title, type, url, start, end, boxes, mask, sound: soundOf(hit), video };
  if (!isViewed(hit.segment_id)) card.querySelector("button.over").append(viewedMark());
  markViewed(hit.segment_id);
  void toggleStage(card, media, (video) => details(hit, video, match));
}

/** Renders the mark of a moment that was opened. */
function viewedMark() {
  return el("span.tag.viewed", {}, "Seen");
}

/** Renders highlighted text of the API, which contains only `<mark>` elements and entities. */
export function marked(text) {
  const parts = text.split(/<mark>(.*?)<\/mark>/s);
  return parts.map((part, i) => (i % 2 === 1 ? el("mark", {}, unescape(part)) : unescape(part)));
}

const ENTITIES = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

function unescape(text) {
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name) => ENTITIES[name]);
}

/** Lists the matching text; without any, the segment's text of each kind of evidence. */
function evidenceList(hit) {
  const textMatches = hit.evidence.filter(({ text }) => text !== undefined);
  const evidence = textMatches.length > 0 ? textMatches : hit.evidence;
  const items = evidence.map(({ kind, text }) => {
    const { name, textOf } = EVIDENCE[kind];
    const content = text === undefined ? [textOf(hit)] : marked(text);
    return el("li", {}, el("span.kind", {}, name), " ", el("span.clamp", {}, content));
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

/** Says how likely a hit is relevant, in a word and as the probability. */
function relevance({ score }) {
  return `${likelihoodOf(score)} (${percent(score)})`;
}

/** Counts the near-identical moments that a hit stands for. */
function duplicatesOf({ duplicates }) {
  return duplicates.length > 0 && count(duplicates.length, "near-duplicate");
}

function details(hit, video, match) {
  const facts = [
    [isTemplateCaption(hit) ? "Caption, composed of detections" : "Caption", hit.caption],
    // A video has all of its transcript beside the player.
    ["Speech", video ? "" : hit.transcript],
    ["On-screen text", hit.on_screen_text],
    ["Labels", hit.labels.join(", ")],
    ["Folder", hit.folder],
    ...Object.entries(hit.metadata).map(([name, value]) => [name, plain(value)]),
  ];
  const { index_name: index, asset_id: id, title, thumbnail_url: thumbnail } = hit;
  const { start_seconds: start, end_seconds: end } = hit;
  return [
    el("h3", { dir: "auto" }, title),
    el("p.facts", {}, [range(hit), match].filter(Boolean).join(" · ")),
    momentActions(hit, scopeButton(hit)),
    ...(video ? videoTools({ index, id, title, start, end, thumbnail }, video) : []),
    factList(facts),
  ];
}
