import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { readVideoSegments } from "./video-segments.js";

/**
 * Resolves to small frames of a video, in order: `[{ start, end, style }]`, where `style` shows one
 * as the background of an element. They are in its storyboard, which is loaded then. A video that
 * was ingested before there were storyboards has the keyframes of its moments.
 */
export async function readPreviewFrames(index, id) {
  const { storyboard } = await api("GET", indexPath(index, ["video", id]));
  if (!storyboard) {
    const segments = await readVideoSegments(index, id);
    return segments.map(({ start, end, url }) => ({ start, end, style: backgroundOf(url) }));
  }
  const image = new Image();
  image.src = storyboard.url;
  await image.decode();
  return framesOf(storyboard);
}

/** Lists the frames of a storyboard, as the API describes it. */
export function framesOf({ url, tiles, columns, interval_seconds: interval }) {
  const rows = Math.ceil(tiles / columns);
  return Array.from({ length: tiles }, (_, tile) => {
    const [column, row] = [tile % columns, Math.floor(tile / columns)];
    const position = `${shareOf(column, columns)} ${shareOf(row, rows)}`;
    const style = { ...backgroundOf(url), backgroundPosition: position };
    style.backgroundSize = `${columns * 100}% ${rows * 100}%`;
    return { start: tile * interval, end: (tile + 1) * interval, style };
  });
}

/** Returns the background position that shows one of `count` parts, each as long as the element. */
function shareOf(part, count) {
  return `${count > 1 ? (part / (count - 1)) * 100 : 0}%`;
}

function backgroundOf(url) {
  return { backgroundImage: `url(${JSON.stringify(url)})` };
}
