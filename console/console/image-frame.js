import { el } from "./element.js";

const SVG = "http://www.w3.org/2000/svg";
const LABEL_PX = 13;

/**
 * Renders a thumbnail or a whole image, with `boxes` (fractions of the image) drawn over it. A
 * missing or broken image is replaced by the type of the asset.
 */
export function imageFrame({ url, alt = "", type, boxes, lazy = true }) {
  const frame = el("span.image-frame", {});
  const standIn = () => frame.replaceChildren(el("span.stand-in", {}, type));
  if (!url) {
    standIn();
    return frame;
  }
  const image = el("img", { alt, loading: lazy ? "lazy" : "eager", decoding: "async" });
  image.addEventListener("error", standIn);
  if (boxes?.length > 0) {
    frame.classList.add("boxed");
    image.addEventListener("load", () => frame.append(drawBoxes(image, boxes)));
  }
  image.src = url;
  frame.append(image);
  return frame;
}

/** Draws boxes in an SVG that is scaled like the image, by `object-fit: contain`. */
function drawBoxes(image, boxes) {
  const { naturalWidth: width, naturalHeight: height } = image;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const scale = Math.min(image.clientWidth / width, image.clientHeight / height);
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

function shape(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}
