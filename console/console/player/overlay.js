import { el, shape } from "../shared/element.js";
import { certaintyOf, percent } from "../shared/wording.js";
import { decodeMask } from "./coco-rle.js";

const LABEL_PX = 13;
/** Red, green, blue and opacity of a mask: light on dark images, with an edge for light ones. */
const MASK_FILL = [0, 190, 255, 110];
const MASK_EDGE = [0, 60, 95, 255];

/**
 * Draws a mask and boxes (fractions of the image) over `media`, an image or a video that is fitted
 * by `object-fit: contain` and whose size is known. Returns the drawings.
 */
export function drawOverlay(media, { boxes, mask }) {
  const canvas = mask ? drawMask(mask) : null;
  const svg = boxes?.length > 0 ? drawBoxes(media, boxes) : null;
  return [canvas, svg].filter(Boolean);
}

export function hasOverlay({ boxes, mask }) {
  return boxes?.length > 0 || Boolean(mask);
}

/** Lists in words what the drawings mean. */
export function overlayLegend({ boxes, mask }) {
  const items = (boxes ?? []).map(({ label, score }) => {
    const words = `${label}: ${certaintyOf(score)} (${percent(score)})`;
    return el("li", {}, el("span.swatch.box", {}), el("span", {}, words));
  });
  if (mask) items.push(el("li", {}, el("span.swatch.mask", {}), "what the search means"));
  return el("ul.legend", { "aria-label": "What is marked" }, items);
}

function drawBoxes(media, boxes) {
  const width = media.naturalWidth ?? media.videoWidth;
  const height = media.naturalHeight ?? media.videoHeight;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const scale = Math.min(media.clientWidth / width, media.clientHeight / height);
  const size = LABEL_PX / (scale || 1);
  for (const { label, x, y, width: w, height: h } of boxes) {
    const [left, top] = [x * width, y * height];
    const name = shape("text", {
      x: left + size / 4,
      y: top > size * 1.3 ? top - size / 3 : top + size,
      "font-size": size,
      "stroke-width": size / 5,
    });
    name.textContent = label;
    svg.append(shape("rect", { x: left, y: top, width: w * width, height: h * height }), name);
  }
  return svg;
}

/** Returns null for a mask that can't be read. */
function drawMask(mask) {
  const [height, width] = mask.size;
  const canvas = el("canvas.mask", { width, height, "aria-hidden": "true" });
  try {
    canvas.getContext("2d").putImageData(new ImageData(maskColours(mask), width, height), 0, 0);
    return canvas;
  } catch {
    return null;
  }
}

/** Returns the colours of a mask's pixels, RGBA. Pixels beside one outside of it are its edge. */
export function maskColours(mask) {
  const [height, width] = mask.size;
  const pixels = decodeMask(mask);
  const colours = new Uint8ClampedArray(pixels.length * 4);
  for (const [i, pixel] of pixels.entries()) {
    if (pixel === 0) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    const isInside =
      (x === 0 || pixels[i - 1] === 1) &&
      (x === width - 1 || pixels[i + 1] === 1) &&
      (y === 0 || pixels[i - width] === 1) &&
      (y === height - 1 || pixels[i + width] === 1);
    colours.set(isInside ? MASK_FILL : MASK_EDGE, i * 4);
  }
  return colours;
}
