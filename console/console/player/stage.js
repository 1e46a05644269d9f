import { announce } from "../shared/element.js";

/** The open stage with its card; `stage` is null while its modules are loaded. */
let open = null;

/**
 * Opens a large view of a video or an image under the row of `card`, or closes it if it is open.
 * `media` has title, type, url, and for a moment start and end (seconds), boxes and mask; `sound`
 * names what may be sound without pictures. A video without a URL has a stand-in.
 * `details` gets the video or audio element, null for an image, and returns what is shown beside it.
 */
export async function toggleStage(card, media, details) {
  const wasOpen = open?.card === card;
  closeStage();
  if (wasOpen) return;
  const opening = { card, stage: null };
  open = opening;
  const loading = import("./open-stage.js").then(async ({ openStage, readStageSound }) => ({
    openStage,
    sound: await readStageSound(media),
  }));
  const { openStage, sound } = await loading.catch((error) => {
    if (open === opening) open = null; // the next click tries again
    throw error;
  });
  if (open !== opening) return;
  const { stage, screen, video } = openStage({ ...media, sound }, details, closeStage);
  buttonOf(card).setAttribute("aria-expanded", "true");
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
  const { stage, card } = open;
  const button = buttonOf(card);
  open = null;
  if (!stage) return; // it is being loaded
  const hadFocus = stage.contains(document.activeElement);
  stage.querySelector("video, audio")?.pause();
  stage.remove();
  card.classList.remove("current");
  button.setAttribute("aria-expanded", "false");
  if (hadFocus) button.focus();
}

/** Returns the button that opens a card's stage. The card may have been drawn anew since. */
function buttonOf(card) {
  return card.querySelector("button.over");
}
