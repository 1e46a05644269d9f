import { el } from "../shared/element.js";
import { imageFrame } from "../shared/image-frame.js";
import { readSound } from "../shared/waveform.js";
import { hasOverlay, overlayLegend } from "./overlay.js";
import { isField } from "./player-keys.js";
import { acceptPlayerKeys, openPlayer } from "./player.js";

/** Reads the sound that `media` names. Resolves to null for a video with pictures. */
export async function readStageSound({ sound, url }) {
  return sound && url ? readSound(sound) : null;
}

/** Renders a stage for `media`. Returns its root, its screen and its video, null for an image. */
export function openStage(media, details, onClose) {
  const { screen, video } =
    media.type === "video" && media.url ? openPlayer(media) : openImage(media);
  const close = el(
    "button.close",
    { type: "button", "aria-label": "Close", onclick: onClose },
    "×",
  );
  const stage = el("li.stage", {}, screen, el("div.details.stack", {}, close, details(video)));
  if (video) acceptPlayerKeys(stage, video);
  acceptEscape(stage, video ?? close);
  return { stage, screen, video };
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
