import { el } from "../shared/element.js";
import { imageFrame } from "../shared/image-frame.js";
import { clock } from "../shared/wording.js";
import { neighboursOf, positionAt } from "./segment-position.js";
import { readVideoSegments } from "./video-segments.js";

/** Moments before and after the shown one. */
const COUNT = 3;

/**
 * Renders the moments before and after one of a video, which play in `video`. The one that was
 * chosen is in the middle then. Resolves to an empty element if there are none.
 */
export async function openNeighbours({ index, id, start }, video) {
  const list = el("ol.neighbours", { "aria-label": "Moments before and after" });
  const segments = await readVideoSegments(index, id);
  const draw = (position) => {
    const current = segments[position];
    list.replaceChildren(
      ...neighboursOf(segments, position, COUNT).map((segment) => neighbour(segment, current)),
    );
  };
  const neighbour = (segment, current) => {
    const { url, start: from } = segment;
    const isCurrent = segment === current;
    const onclick = () => {
      video.currentTime = from;
      void video.play();
      draw(segments.indexOf(segment));
      list.querySelector("[aria-current]").focus();
    };
    const time = clock(from);
    const button = el(
      "button.over",
      { type: "button", "aria-current": isCurrent && "true", onclick },
      el("span.visually-hidden", {}, "Play from "),
      imageFrame({ url, type: "video" }),
      el("span.tag", {}, time),
    );
    return el("li", {}, button);
  };
  if (segments.length > 1) draw(positionAt(segments, start));
  return list;
}
