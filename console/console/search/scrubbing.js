import { el } from "../shared/element.js";
import { clock } from "../shared/wording.js";
import { readPreviewFrames } from "./preview-frames.js";
import { positionAt, positionOfShare } from "./segment-position.js";

/** Time that a pointer rests on a picture before the video's frames are read. */
const REST_MS = 150;
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * Lets the picture of a hit show other frames of its video: where the pointer is on it, from left
 * to right, or by the arrow keys. It shows the hit itself again afterwards.
 */
export function acceptScrubbing(card, hit) {
  const { index_name: index, asset_id: id, start_seconds: start } = hit;
  const button = card.querySelector("button.over");
  const picture = button?.querySelector(".image-frame");
  if (hit.asset_type !== "video" || !picture?.querySelector("img")) return;
  const tag = button.querySelector(".tag");
  const originalTag = tag?.textContent;
  const preview = el("span.preview-frame", { "aria-hidden": "true" });
  let frames = null;
  let position = null;
  let resting = 0;
  /** What waits for the frames of the video; null if they aren't wanted any more. */
  let wanted = null;

  const show = (shown) => {
    if (shown === position) return;
    position = shown;
    Object.assign(preview.style, frames[shown].style);
    picture.append(preview);
    if (tag) tag.textContent = clock(frames[shown].start);
    const [first, last] = [frames[0].start, frames.at(-1).end];
    const share = (frames[shown].start - first) / (last - first || 1);
    button.style.setProperty("--scrubbed", `${share * 100}%`);
    button.classList.add("scrubbing");
  };

  const stop = () => {
    clearTimeout(resting);
    wanted = null;
    if (position === null) return;
    position = null;
    preview.remove();
    if (tag) tag.textContent = originalTag;
    button.classList.remove("scrubbing");
  };

  /** Runs `move` once the frames are read, unless the pointer or the focus has left. */
  const withFrames = async (move) => {
    wanted = move;
    try {
      frames ??= await readPreviewFrames(index, id);
    } catch {
      return; // the picture stays as it is: scrubbing is an extra
    }
    if (frames.length > 1) wanted?.();
  };

  button.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse") return;
    const { left, width } = button.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    const move = () => show(positionOfShare(frames, share));
    clearTimeout(resting);
    if (frames) void withFrames(move);
    else resting = setTimeout(() => void withFrames(move), REST_MS);
  });
  button.addEventListener("pointerleave", stop);
  button.addEventListener("blur", stop);
  button.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    void withFrames(() => {
      const from = position ?? positionAt(frames, start);
      show(Math.min(frames.length - 1, Math.max(0, from + step)));
    });
  });
}
