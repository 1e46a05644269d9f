import { clock } from "../shared/wording.js";
import { positionAt, positionOfShare } from "./segment-position.js";
import { readVideoSegments } from "./video-segments.js";

/** Time that a pointer rests on a picture before the video's moments are read. */
const REST_MS = 150;
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * Lets the picture of a hit show the other moments of its video: where the pointer is on it, from
 * left to right, or by the arrow keys. It shows the hit itself again afterwards.
 */
export function acceptScrubbing(card, hit) {
  const { index_name: index, asset_id: id, start_seconds: start } = hit;
  const button = card.querySelector("button.over");
  const image = button?.querySelector("img");
  if (hit.asset_type !== "video" || !image) return;
  const tag = button.querySelector(".tag");
  const original = { url: hit.thumbnail_url, text: tag?.textContent };
  let segments = null;
  let position = null;
  let resting = 0;
  /** What waits for the moments of the video; null if they aren't wanted any more. */
  let wanted = null;

  const show = (shown) => {
    if (shown === position) return;
    position = shown;
    image.src = segments[shown].url;
    if (tag) tag.textContent = clock(segments[shown].start);
    const [first, last] = [segments[0].start, segments.at(-1).end];
    const share = (segments[shown].start - first) / (last - first || 1);
    button.style.setProperty("--scrubbed", `${share * 100}%`);
    button.classList.add("scrubbing");
  };

  const stop = () => {
    clearTimeout(resting);
    wanted = null;
    if (position === null) return;
    position = null;
    image.src = original.url;
    if (tag) tag.textContent = original.text;
    button.classList.remove("scrubbing");
  };

  /** Runs `move` once the moments are read, unless the pointer or the focus has left. */
  const withSegments = async (move) => {
    wanted = move;
    try {
      segments ??= await readVideoSegments(index, id);
    } catch {
      return; // the picture stays as it is: scrubbing is an extra
    }
    if (segments.length > 1) wanted?.();
  };

  button.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse") return;
    const { left, width } = button.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    const move = () => show(positionOfShare(segments, share));
    clearTimeout(resting);
    if (segments) void withSegments(move);
    else resting = setTimeout(() => void withSegments(move), REST_MS);
  });
  button.addEventListener("pointerleave", stop);
  button.addEventListener("blur", stop);
  button.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    void withSegments(() => {
      const from = position ?? positionAt(segments, start);
      show(Math.min(segments.length - 1, Math.max(0, from + step)));
    });
  });
}
