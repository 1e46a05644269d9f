import { announce } from "../shared/element.js";

/** The open stage with its card; `stage` is null while its modules are loaded. */
let open = null;

/**
 * Opens a large view of a video or an image under the row of `card`, or closes it if it is open.
 * `media` has title, type, url, and for a moment start and end (seconds), boxes and mask. A video
 * without a URL has a stand-in.
 * `details` gets the video element, null for an image, and returns what is shown beside it.
 */
export async function toggleStage(card, media, details) {
  const button = card.querySelector("button.over");
  const wasOpen = open?.button === button;
  closeStage();
  if (wasOpen) return;
  const opening = { button, card, stage: null };
  open = opening;
  const { openStage } = await import("./open-stage.js");
  if (open !== opening) return;
  const { stage, screen, video } = openStage(media, details, closeStage);
  button.setAttribute("aria-expanded", "true");
  card.classList.add("current");
  card.after(stage);
  opening.stage = stage;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  screen.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  video?.focus({ preventScroll: true });
  announce(`${media.title} is open below.`);
}

export function closeStage() {
  if (!open) return;
  const { stage, button, card } = open;
  open = null;
  if (!stage) return; // it is being loaded
  const hadFocus = stage.contains(document.activeElement);
  stage.querySelector("video")?.pause();
  stage.remove();
  card.classList.remove("current");
  button.setAttribute("aria-expanded", "false");
  if (hadFocus) button.focus();
}
