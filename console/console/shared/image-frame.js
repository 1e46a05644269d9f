import { el } from "./element.js";

/**
 * Renders a thumbnail or a whole image, with `boxes` and a `mask` drawn over it. A missing or broken
 * image is replaced by the type of the asset.
 */
export function imageFrame({ url, alt = "", type, boxes, mask, lazy = true }) {
  const frame = el("span.image-frame", {});
  const standIn = () => frame.replaceChildren(el("span.stand-in", {}, type));
  if (!url) {
    standIn();
    return frame;
  }
  const image = el("img", { alt, loading: lazy ? "lazy" : "eager", decoding: "async" });
  image.addEventListener("error", standIn);
  if (boxes?.length || mask) {
    frame.classList.add("boxed");
    image.addEventListener("load", async () => {
      const { drawOverlay } = await import("../player/overlay.js");
      frame.append(...drawOverlay(image, { boxes, mask }));
    });
  }
  image.src = url;
  frame.append(image);
  return frame;
}
