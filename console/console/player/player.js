import { isReachable, OFFLINE } from "../shared/api-error.js";
import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice } from "../shared/element.js";
import { drawOverlay, hasOverlay, overlayLegend } from "./overlay.js";
import { keyAction } from "./player-keys.js";
import { soundPicture } from "./sound-picture.js";

/**
 * Renders a player. `start` and `end` (seconds, or null) bound what is played at first; `boxes` and
 * `mask` are drawn while the video is paused within these times. `sound` is what `readSound` resolves
 * to: sound without pictures plays below its waveform. `video` names the video of which a copy can
 * be made if the browser doesn't play it: `{ index, id }`.
 */
export function openPlayer({ title, url, start, end, boxes, mask, sound, video: source }) {
  // The fragment has no end: browsers stop up to 0.25 s late there. `stopAt` is exact to a frame.
  const src = start === null ? url : `${url.split("#")[0]}#t=${start}`;
  const attributes = { src, controls: true, autoplay: true, playsinline: true };
  const video = el(sound ? "audio" : "video", { ...attributes, "aria-label": title });
  const overlay = el("div.overlay", { hidden: true });
  const picture = sound?.waveform ? soundPicture(sound, video, { start, end }) : null;
  const screen = el("div.screen", {}, el("div.frame", {}, picture, video, overlay));
  video.addEventListener("error", async () => {
    const shown = [...screen.childNodes];
    const retry = () => {
      screen.replaceChildren(...shown);
      video.load();
    };
    const isUp = await isReachable();
    screen.replaceChildren(
      isUp ? unplayable(url, source) : errorNotice({ message: OFFLINE }, retry),
    );
  });
  if (end !== null) {
    stopAt(video, end);
    const replay = () => {
      video.currentTime = start;
      stopAt(video, end);
      void video.play();
    };
    screen.append(el("button.quiet", { type: "button", onclick: replay }, "Replay the moment"));
  }
  if (hasOverlay({ boxes, mask })) {
    showWhilePaused(video, overlay, { start, end, boxes, mask });
    const note = "Pause within the moment to see this drawn. It was found in one frame of it.";
    screen.append(overlayLegend({ boxes, mask }), el("p.facts", {}, note));
  }
  return { screen, video };
}

/** Handles the keys of the player; `root` is what must have the focus. */
export function acceptPlayerKeys(root, video) {
  const listener = (event) => {
    const action = keyAction(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    if (action.toggle) void (video.paused ? video.play() : video.pause());
    else video.currentTime = Math.max(0, video.currentTime + action.seek);
  };
  // Before the browser's player, which knows some of these keys, too.
  root.addEventListener("keydown", listener, { capture: true });
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

function showWhilePaused(video, overlay, { start, end, boxes, mask }) {
  const update = () => {
    const { currentTime: now, paused, videoWidth } = video;
    const isInside = start === null || (now >= start && now < end);
    overlay.hidden = !(paused && isInside && videoWidth > 0);
    if (!overlay.hidden) overlay.replaceChildren(...drawOverlay(video, { boxes, mask }));
  };
  for (const name of ["pause", "play", "seeked", "loadeddata"]) {
    video.addEventListener(name, update);
  }
  new ResizeObserver(update).observe(video);
}

function unplayable(url, source) {
  const reload = () => location.reload();
  const convert = async ({ currentTarget: button }) => {
    button.disabled = true;
    const notice = await startCopy(source).catch((error) => errorNotice(error));
    button.replaceWith(notice);
  };
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
      source && el("button.quiet", { type: "button", onclick: convert }, "Make a copy that plays"),
      el("a", { href: url }, "Open the file"),
    ),
  );
}

/** Starts the job that makes a copy of a video. Resolves to what to show. */
async function startCopy({ index, id }) {
  await api("POST", apiPath(["index", index, "video", id, "playback_copy"]));
  const jobs = el("a", { href: "#/jobs" }, "a job");
  return el("p.facts", {}, "A copy is being made by ", jobs, ". Reload when it is done.");
}
