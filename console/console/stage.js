import { el, announce } from "./element.js";
import { imageFrame } from "./image-frame.js";
import { hasOverlay, overlayLegend } from "./overlay.js";
import { acceptPlayerKeys, openPlayer } from "./player.js";
import { isField } from "./player-keys.js";

let open = null;

/**
 * Opens a large view of a video or an image under the row of `card`, or closes it if it is open.
 * `media` has title, type, url, and for a moment start and end (seconds), boxes and mask. A video
 * without a URL has a stand-in.
 * `details` gets the video element, null for an image, and returns what is shown beside it.
 */
export function toggleStage(card, media, details) {
  const button = card.querySelector("button.over");
  const wasOpen = open?.button === button;
  closeStage();
  if (wasOpen) return;
  const { screen, video } =
    media.type === "video" && media.url ? openPlayer(media) : openImage(media);
  const close = el("button.close", { type: "button", "aria-label": "Close" }, "×");
  close.addEventListener("click", closeStage);
  const stage = el("li.stage", {}, screen, el("div.details.stack", {}, close, details(video)));
  if (video) acceptPlayerKeys(stage, video);
  acceptEscape(stage, video ?? close);
  button.setAttribute("aria-expanded", "true");
  card.classList.add("current");
  card.after(stage);
  open = { stage, button, card };
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  screen.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  video?.focus({ preventScroll: true });
  announce(`${media.title} is open below.`);
}

export function closeStage() {
  if (!open) return;
  const { stage, button, card } = open;
  open = null;
  const hadFocus = stage.contains(document.activeElement);
  stage.querySelector("video")?.pause();
  stage.remove();
  card.classList.remove("current");
  button.setAttribute("aria-expanded", "false");
  if (hadFocus) button.focus();
}

function openImage(media) {
  const frame = imageFrame({ ...media, alt: media.title, lazy: false });
  const screen = el("div.screen", {}, frame);
  if (hasOverlay(media)) screen.append(overlayLegend(media));
  return { screen, video: null };
}

/** Leaves a field with Escape, which elsewhere closes the view. */
function acceptEscape(stage, target) {
  stage.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isField(event.target)) return;
    event.stopPropagation();
    target.focus();
  });
}
