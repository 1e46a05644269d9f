import { isReachable } from "./api-error.js";
import { el } from "./element.js";

/**
 * Renders a thumbnail or a whole image, with `boxes` and a `mask` drawn over it. A missing or broken
 * image is replaced by the type of the asset, or by the waveform of `sound`: what `readSound` and
 * `waveformShape` take, once it is on screen.
 */
export function imageFrame({ url, alt = "", type, boxes, mask, sound, lazy = true }) {
  const frame = el("span.image-frame", {});
  const standIn = () => frame.replaceChildren(el("span.stand-in", {}, type));
  if (!url) {
    standIn();
    if (sound && type === "video") whenVisible(frame, () => drawSound(frame, sound));
    return frame;
  }
  const image = el("img", { alt, loading: lazy ? "lazy" : "eager", decoding: "async" });
  image.addEventListener("error", () => {
    standIn();
    void reportUnreachable();
  });
  if (boxes?.length || mask) {
    frame.classList.add("boxed");
    image.addEventListener("load", async () => {
      const { drawOverlay } = await import("../player/overlay.js");
      frame.append(...drawOverlay(image, { boxes, mask }));
    });
  }
  // Only a phone, whose cards fill the screen, needs the whole keyframe of 960 pixels.
  if (lazy && isThumbnail(url)) {
    image.sizes = "(max-width: 480px) 336px, 160px";
    image.srcset = `${url}?width=320 320w, ${url} 960w`;
  }
  image.src = url;
  frame.append(image);
  return frame;
}

let checking = null;

/** Says once that the service can't be reached, if that is why images are broken. */
async function reportUnreachable() {
  if (checking) return;
  checking = isReachable();
  const isUp = await checking;
  checking = null;
  if (!isUp) window.dispatchEvent(new Event("unreachable"));
}

function isThumbnail(url) {
  return url.endsWith("/thumbnail.jpg");
}

function whenVisible(element, show) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    show();
  });
  observer.observe(element);
}

/** Draws a waveform instead of the stand-in. A video with pictures keeps it. */
async function drawSound(frame, sound) {
  const { readSound, waveformShape } = await import("./waveform.js");
  const read = await readSound(sound);
  if (!read) return;
  const standIn = el("span.stand-in", {}, "Sound");
  frame.replaceChildren(read.waveform ? waveformShape(read, sound) : standIn);
}
