import { type Frame, Rational } from "node-av/lib";
import { FilterAPI } from "node-av/api";
import sharp from "sharp";
import { EngineError } from "./errors.ts";
import { fitSize, type Size, type Wanted } from "./media-fit.ts";
import type { Orientation } from "./media-orientation.ts";
import type { Pixels } from "./picture.ts";

export const PICTURE_FORMATS = ["jpg", "png"] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

export interface EncodedPicture {
  bytes: Buffer;
  contentType: string;
}

/** FFmpeg's; `area` is the cheaper one, for pictures that get much smaller. */
export type Scaler = "bicubic" | "area";

const QUALITY = 85;
const MAX_SCALED_PIXELS = 8_192 * 8_192;

/**
 * FFmpeg filters that bring a stored frame to `scaled` and upright, in the order that is cheapest.
 * Errors: `bad_request` for a size beyond reason.
 */
export function toUprightFilters(
  orientation: Orientation,
  scaled: Size,
  scaler: Scaler = "bicubic",
): string {
  if (scaled.width * scaled.height > MAX_SCALED_PIXELS) {
    throw new EngineError("bad_request", "The picture would be too large.");
  }
  const turned = orientation.rotation % 180 !== 0;
  const [width, height] = turned ? [scaled.height, scaled.width] : [scaled.width, scaled.height];
  return [`scale=${width}:${height}:flags=${scaler}`, ...orientation.filters, "setsar=1"].join(",");
}

/** Draws frames of one video upright and at one size. */
export interface Renderer extends Disposable {
  /** The caller still frees the frame. Errors: `undecodable_media`. */
  render(frame: Frame): Pixels;
}

/** Dispose of it with `using`. Errors: `bad_request`. */
export function createRenderer(orientation: Orientation, wanted: Wanted, scaler: Scaler): Renderer {
  const { scaled, cut } = fitSize(orientation, wanted);
  const filters = `${toUprightFilters(orientation, scaled, scaler)},crop=${cut.width}:${cut.height}:exact=1`;
  const filter = FilterAPI.create(`${filters},format=rgb24`, { threads: 1 });
  return {
    render(frame) {
      frame.timeBase = new Rational(1, 1_000_000);
      const [rendered] = filter.processAllSync(frame);
      if (!rendered) throw new EngineError("undecodable_media", "The frame can't be drawn.");
      try {
        return { data: rendered.toBuffer(), width: rendered.width, height: rendered.height };
      } finally {
        rendered.free();
      }
    },
    [Symbol.dispose]: () => filter.close(),
  };
}

export async function encodePicture(
  pixels: Pixels,
  format: PictureFormat,
): Promise<EncodedPicture> {
  const { data, width, height } = pixels;
  const picture = sharp(data, { raw: { width, height, channels: 3 } });
  return format === "png"
    ? { bytes: await picture.png().toBuffer(), contentType: "image/png" }
    : { bytes: await picture.jpeg({ quality: QUALITY }).toBuffer(), contentType: "image/jpeg" };
}
