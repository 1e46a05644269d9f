import { el, say } from "./element.js";
import { picture } from "./picture.js";

let open = null;

/**
 * Shows a video or an image large, in the grid and right under the row of `card`; once more closes
 * it. `start` and `end` (seconds, or null) bound what is played; `details` stand beside it.
 */
export function toggleStage(card, { title, type, url, start = null, end = null, boxes, details }) {
  const button = card.querySelector("button.over");
  const wasOpen = open?.button === button;
  closeStage();
  if (wasOpen) return;
  const screen =
    type === "video"
      ? player(url, start, end)
      : el("div.screen", {}, picture({ url, alt: title, type, boxes, lazy: false }));
  const close = el("button.close", { type: "button", "aria-label": "Close" }, "×");
  close.addEventListener("click", closeStage);
  const stage = el("li.stage", {}, screen, el("div.details.stack", {}, close, details));
  button.setAttribute("aria-expanded", "true");
  card.classList.add("current");
  card.after(stage);
  open = { stage, button, card };
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  screen.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  say(`${title} is open below.`);
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
  // Without the end of the fragment: a browser would stop there up to a quarter of a second late.
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
  screen.append(el("button.quiet", { type: "button", onclick: replay }, "Play the moment again"));
  return screen;
}

/** Stops once at `end`. Who plays on from there, or jumps past it, is not stopped again. */
function stopAt(video, end) {
  const look = () => {
    if (!video.isConnected) return;
    if (video.currentTime < end) requestAnimationFrame(look);
    else if (video.currentTime < end + 1) video.pause();
  };
  requestAnimationFrame(look);
}

function unplayable(url) {
  const again = () => location.reload();
  return el(
    "div.notice.bad",
    {},
    el(
      "p",
      {},
      "This can't be played: the link is older than an hour, or this browser doesn't know the format.",
    ),
    el(
      "div.row",
      {},
      el("button.quiet", { type: "button", onclick: again }, "Reload"),
      el("a", { href: url }, "Open the file"),
    ),
  );
}
