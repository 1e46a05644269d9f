import { FilterAPI } from "node-av/api";
import { AV_FRAME_FLAG_INTERLACED } from "node-av/constants";
import { type Frame, Rational, type Stream } from "node-av/lib";
import sharp from "sharp";
import { EngineError } from "./errors.ts";
import type { Pixels } from "./image.ts";
import { toTagFilters, toToneFilters } from "./media-colour.ts";
import { fitSize, type Size, type SizeRequest } from "./media-fit.ts";
import { getOrientation } from "./media-orientation.ts";

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

/** Sides from which FFmpeg can make whole frames of fields. */
const MIN_SIDE_OF_FIELDS = 4;

/**
 * Returns FFmpeg filters that scale the stored frames of a video to `scaled`, turn them upright and
 * map their light to that of a screen. Errors: `bad_request` for an excessive size.
 */
function toUprightFilters(stream: Stream, scaled: Size, scaler: Scaler): string[] {
  if (scaled.width * scaled.height > MAX_SCALED_PIXELS) {
    throw new EngineError("bad_request", "The image would be too large.");
  }
  const { rotation, filters } = getOrientation(stream);
  const { width, height } =
    rotation % 180 === 0 ? scaled : { width: scaled.height, height: scaled.width };
  const { codecpar } = stream;
  return [
    ...toTagFilters(codecpar),
    `scale=${width}:${height}:flags=${scaler}`,
    ...filters,
    "setsar=1",
    ...toToneFilters(codecpar),
  ];
}

/** Returns FFmpeg filters that make upright 4:2:0 of all frames, and whole ones of their fields. */
export function toCopyFilters(stream: Stream, size: Size): string {
  const { width, height } = stream.codecpar;
  const hasFields = Math.min(width, height) >= MIN_SIDE_OF_FIELDS;
  const filters = toUprightFilters(stream, size, "bicubic");
  return [
    ...(hasFields ? ["bwdif=mode=send_frame:deint=interlaced", "settb=1/90000"] : []),
    ...filters,
  ]
    .concat("format=yuv420p")
    .join(",");
}

/** Renders frames of one video upright and at one size. */
export interface Renderer extends Disposable {
  /** Renders a frame, which the caller still has to free. Errors: `undecodable_media`. */
  render(frame: Frame): Pixels;
}

/** Creates a renderer, to be declared with `using`. Errors: `bad_request`. */
export function createRenderer(stream: Stream, request: SizeRequest, scaler: Scaler): Renderer {
  const { scaled, cropped } = fitSize(getOrientation(stream), request);
  const crop = `crop=${cropped.width}:${cropped.height}:exact=1`;
  const upright = [...toUprightFilters(stream, scaled, scaler), crop, "format=rgb24"].join(",");
  const whole = FilterAPI.create(upright, { threads: 1 });
  // A frame is rendered alone, so the lines of one moment make it.
  const fields = FilterAPI.create(`field=top,${upright}`, { threads: 1 });
  return {
    render(frame) {
      frame.timeBase = new Rational(1, 1_000_000);
      const isOfFields = (frame.flags & AV_FRAME_FLAG_INTERLACED) !== 0 && frame.height > 1;
      const [rendered] = (isOfFields ? fields : whole).processAllSync(frame);
      if (!rendered) throw new EngineError("undecodable_media", "The frame can't be rendered.");
      try {
        return { data: rendered.toBuffer(), width: rendered.width, height: rendered.height };
      } finally {
        rendered.free();
      }
    },
    [Symbol.dispose]() {
      whole.close();
      fields.close();
    },
  };
}

export async function encodeImage(pixels: Pixels, format: ImageFormat): Promise<EncodedImage> {
  const { data, width, height } = pixels;
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  return format === "png"
    ? { bytes: await image.png().toBuffer(), contentType: "image/png" }
    : { bytes: await image.jpeg({ quality: QUALITY }).toBuffer(), contentType: "image/jpeg" };
}
