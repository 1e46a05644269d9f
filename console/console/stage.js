import { el, announce } from "./element.js";
import { imageFrame } from "./image-frame.js";

let open = null;

/**
 * Opens a large view of a video or an image under the row of `card`, or closes it if it is open.
 * `start` and `end` (seconds, or null) bound what is played; `details` are shown beside it.
 */
export function toggleStage(card, { title, type, url, start = null, end = null, boxes, details }) {
  const button = card.querySelector("button.over");
  const wasOpen = open?.button === button;
  closeStage();
  if (wasOpen) return;
  const screen =
    type === "video"
      ? player(url, start, end)
      : el("div.screen", {}, imageFrame({ url, alt: title, type, boxes, lazy: false }));
  const close = el("button.close", { type: "button", "aria-label": "Close" }, "×");
  close.addEventListener("click", closeStage);
  const stage = el("li.stage", {}, screen, el("div.details.stack", {}, close, details));
  button.setAttribute("aria-expanded", "true");
  card.classList.add("current");
  card.after(stage);
  open = { stage, button, card };
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  screen.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  announce(`${title} is open below.`);
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

function player(url, start, end) {
  // The fragment has no end: browsers stop up to 0.25 s late there. `stopAt` is exact to a frame.
  const src = start === null ? url : `${url.split("#")[0]}#t=${start}`;
  const video = el("video", { src, controls: true, autoplay: true, playsinline: true });
  const screen = el("div.screen", {}, video);
  video.addEventListener("error", () => screen.replaceChildren(unplayable(url)));
  if (end === null) return screen;
  stopAt(video, end);
  const replay = () => {
    video.currentTime = start;
    stopAt(video, end);
    void video.play();
  };
  screen.append(el("button.quiet", { type: "button", onclick: replay }, "Replay the moment"));
  return screen;
}

/** Pauses once at `end`. Playing on from there, or seeking past it, isn't interrupted. */
function stopAt(video, end) {
  const checkTime = () => {
    if (!video.isConnected) return;
    if (video.currentTime < end) requestAnimationFrame(checkTime);
    else if (video.currentTime < end + 1) video.pause();
  };
  requestAnimationFrame(checkTime);
}

function unplayable(url) {
  const reload = () => location.reload();
  return el(
    "div.notice.bad",
    {},
    el(
      "p",
      {},
      "This can't be played: the link has expired (after an hour), or the browser doesn't support the format.",
    ),
    el(
      "div.row",
      {},
      el("button.quiet", { type: "button", onclick: reload }, "Reload"),
      el("a", { href: url }, "Open the file"),
    ),
  );
}
