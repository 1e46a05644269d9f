import { toggleStage } from "../player/stage.js";
import { factList, plain, videoTools } from "../search/media-details.js";
import { scopeButton, similarButton } from "../search/moment-actions.js";
import { el, errorNotice, folderLine, titleHeading, withCode } from "../shared/element.js";
import { adviceOf, isSpeechWarning, plainMessage, sentenceOf } from "../shared/error-advice.js";
import { imageFrame } from "../shared/image-frame.js";
import { bytes, clock, count, STATES } from "../shared/wording.js";

export function isDone({ state }) {
  return state === "ready" || state === "failed";
}

/** Card of a video or an image. `update` shows a newer record and redraws only what changed. */
export function assetCard(asset, { onEdit, onRetry, onDelete }) {
  const root = el("li.card.asset");
  let shown = asset;

  const draw = () => {
    const { title, state, asset_type: type, duration_seconds: seconds } = shown;
    const button = el(
      "button.over",
      {
        type: "button",
        "aria-expanded": String(root.classList.contains("current")),
        onclick: () => openStage(root, shown),
      },
      el("span.visually-hidden", {}, `${isPlayable(shown) ? "Play" : "Show"} ${title}`),
      imageFrame({ url: shown.thumbnail_url, type, sound: state === "ready" && soundOf(shown) }),
      seconds === null ? null : el("span.tag", {}, clock(seconds)),
    );
    const action = (verb, onclick) => {
      const attributes = { type: "button", "aria-label": `${verb} ${title}`, onclick };
      return el("button.quiet.faint", attributes, verb);
    };
    const actions = el(
      "span.actions",
      {},
      action("Edit", () => onEdit(shown)),
      action("Delete", () => onDelete(shown)),
    );
    const focused = [...root.querySelectorAll("button")].indexOf(document.activeElement);
    root.replaceChildren(
      button,
      titleHeading(title),
      folderLine(shown.technical?.folder) ?? "",
      el("p.row.between", {}, el("span.facts.state", {}, line(shown)), actions),
      ...(state === "ready"
        ? [el("p.actions.calm", {}, similarButton(shown, shown.asset_id))]
        : []),
    );
    if (state === "failed") {
      root.append(failureNotice(shown, () => onRetry(shown)));
      root.append(...adviceLines(shown));
    } else if (!isDone(shown)) {
      root.append(
        el("progress", { max: 1, value: shown.progress, "aria-label": `Progress of ${title}` }),
      );
    }
    for (const warning of shown.warnings) {
      root.append(warningLine(warning));
    }
    root.querySelectorAll("button")[focused]?.focus();
  };

  draw();
  return {
    root,
    update(newer) {
      const isKnown = newer.updated_at === shown.updated_at;
      if (isDone(newer) && isKnown && newer.warnings.length === shown.warnings.length) return;
      const isSame =
        !isDone(newer) &&
        !isDone(shown) &&
        newer.thumbnail_url === null &&
        newer.title === shown.title;
      shown = newer;
      if (!isSame) return draw();
      root.querySelector(".state").textContent = line(shown);
      root.querySelector("progress").value = shown.progress;
    },
  };
}

function line({ state, segments, asset_type: type }) {
  if (state !== "ready") return STATES[state];
  return type === "video" ? count(segments, "moment") : "Image";
}

/** Renders a warning; how to make up for speech that isn't recognised is folded. */
function warningLine(warning) {
  const text = plainMessage(warning);
  if (!isSpeechWarning(warning)) return el("p.warning", {}, withCode(text));
  const [what, ...rest] = text.split(": ");
  const summary = el("summary", {}, `${what}.`);
  return el("details.warning", {}, summary, el("p", {}, withCode(sentenceOf(rest.join(": ")))));
}

function actionsOf(asset) {
  return el("p.actions.calm", {}, similarButton(asset, asset.asset_id), scopeButton(asset));
}

function failureNotice({ error }, onRetry) {
  return errorNotice({ message: plainMessage(error) }, onRetry, "Retry");
}

/** Says what to do about a failure, if its message doesn't. */
function adviceLines({ error }) {
  const advice = error && adviceOf(error);
  return advice ? [el("p.warning", {}, advice)] : [];
}

/** Names sound without pictures to read its waveform; null for others. */
function soundOf({ has_video: hasVideo, index_name: index, asset_id: id }) {
  return hasVideo === false ? { index, id } : null;
}

function isPlayable({ asset_type: type, state, media_url: url }) {
  return type === "video" && state !== "failed" && url !== null;
}

function openStage(root, asset) {
  const { title, asset_type: type } = asset;
  const url = type === "image" || isPlayable(asset) ? asset.media_url : null;
  const video = asset.working_copy ? null : { index: asset.index_name, id: asset.asset_id };
  const media = { title, type, url, start: null, end: null, sound: soundOf(asset), video };
  void toggleStage(root, media, (video) => details(asset, video));
}

/** Says which file plays, if it isn't the one that was added, and links to that. */
function playedFile({ working_copy: copy, original_url: url, title }) {
  if (!copy) return null;
  const link = el("a", { href: `${url}?download`, download: title }, "Download the original");
  const size = copy.width === null ? "" : `, ${copy.width} × ${copy.height}`;
  return el("span", {}, `A copy as MP4${size}. `, link);
}

function details(asset, video) {
  const { width, height, fps, duration_seconds: seconds, source } = asset;
  const facts = [
    ["Length", seconds === null ? null : clock(seconds)],
    [
      "Size",
      [
        width && `${width} × ${height}`,
        fps && `${Number(fps.toFixed(2))} fps`,
        bytes(asset.size_bytes),
      ]
        .filter(Boolean)
        .join(" · "),
    ],
    ["Plays", playedFile(asset)],
    ["Folder", asset.technical?.folder],
    ["Language", asset.language],
    ["From", source.url],
    ["Added", new Date(asset.created_at).toLocaleString()],
    ...Object.entries(asset.metadata).map(([name, value]) => [name, plain(value)]),
    ["Id", asset.asset_id],
  ];
  const { index_name: index, asset_id: id, title, thumbnail_url: thumbnail } = asset;
  const isVideo = video !== null && asset.state === "ready";
  return [
    el("h3", { dir: "auto" }, title),
    ...(asset.state === "ready" ? [] : [el("p.facts", {}, STATES[asset.state])]),
    ...(asset.error ? [failureNotice(asset), ...adviceLines(asset)] : []),
    ...(asset.state === "ready" ? [actionsOf(asset)] : []),
    ...(isVideo ? videoTools({ index, id, title, start: null, end: null, thumbnail }, video) : []),
    factList(facts),
  ];
}
