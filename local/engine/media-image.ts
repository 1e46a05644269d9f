import { FilterAPI } from "node-av/api";
import { type Frame, Rational } from "node-av/lib";
import sharp from "sharp";
import { EngineError } from "./errors.ts";
import type { Pixels } from "./image.ts";
import { fitSize, type Size, type SizeRequest } from "./media-fit.ts";
import type { Orientation } from "./media-orientation.ts";

export const IMAGE_FORMATS = ["jpg", "png"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export interface EncodedImage {
  bytes: Buffer;
  contentType: string;
}

/** FFmpeg's scalers; `area` is the cheaper one, for strong downscaling. */
export type Scaler = "bicubic" | "area";

const QUALITY = 85;
const MAX_SCALED_PIXELS = 8_192 * 8_192;

/**
 * Returns FFmpeg filters that scale a stored frame to `scaled` and turn it upright, in the cheapest
 * order. Errors: `bad_request` for an excessive size.
 */
export function toUprightFilters(
  orientation: Orientation,
  scaled: Size,
  scaler: Scaler = "bicubic",
): string {
  if (scaled.width * scaled.height > MAX_SCALED_PIXELS) {
    throw new EngineError("bad_request", "The image would be too large.");
  }
  const isTransposed = orientation.rotation % 180 !== 0;
  const [width, height] = isTransposed
    ? [scaled.height, scaled.width]
    : [scaled.width, scaled.height];
  return [`scale=${width}:${height}:flags=${scaler}`, ...orientation.filters, "setsar=1"].join(",");
}

/** Renders frames of one video upright and at one size. */
export interface Renderer extends Disposable {
  /** Renders a frame, which the caller still has to free. Errors: `undecodable_media`. */
  render(frame: Frame): Pixels;
}

/** Creates a renderer, to be declared with `using`. Errors: `bad_request`. */
export function createRenderer(
  orientation: Orientation,
  request: SizeRequest,
  scaler: Scaler,
): Renderer {
  const { scaled, cropped } = fitSize(orientation, request);
  const upright = toUprightFilters(orientation, scaled, scaler);
  const crop = `crop=${cropped.width}:${cropped.height}:exact=1`;
  const filter = FilterAPI.create(`${upright},${crop},format=rgb24`, { threads: 1 });
  return {
    render(frame) {
      frame.timeBase = new Rational(1, 1_000_000);
      const [rendered] = filter.processAllSync(frame);
      if (!rendered) throw new EngineError("undecodable_media", "The frame can't be rendered.");
      try {
        return { data: rendered.toBuffer(), width: rendered.width, height: rendered.height };
      } finally {
        rendered.free();
      }
    },
    [Symbol.dispose]: () => filter.close(),
  };
}

export async function encodeImage(pixels: Pixels, format: ImageFormat): Promise<EncodedImage> {
  const { data, width, height } = pixels;
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  return format === "png"
    ? { bytes: await image.png().toBuffer(), contentType: "image/png" }
    : { bytes: await image.jpeg({ quality: QUALITY }).toBuffer(), contentType: "image/jpeg" };
}
