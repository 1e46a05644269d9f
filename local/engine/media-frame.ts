import sharp from "sharp";
import { EngineError } from "./errors.ts";
import type { Pixels } from "./image.ts";
import { fitSize, type Size, type SizeRequest } from "./media-fit.ts";
import {
  createRenderer,
  encodeImage,
  type EncodedImage,
  type ImageFormat,
  type Scaler,
} from "./media-image.ts";
import { getOrientation } from "./media-orientation.ts";
import { toMediaFacts, type MediaFacts } from "./media-probe.ts";
import { MediaReader } from "./media-reader.ts";
import { type MediaSource, openMedia } from "./media-source.ts";
import { PresentedFrames } from "./presented-frames.ts";

export interface FrameRequest extends SizeRequest {
  /** Seconds from the start of the video. */
  time: number;
  format: ImageFormat;
}

export interface ContactSheetRequest extends FrameRequest {
  /** Seconds that the contact sheet covers. */
  duration: number;
  count: number;
  columns: number;
  /** What the requested size is that of. */
  sizeOf: (typeof SIZES_OF)[number];
}

export const SIZES_OF = ["tile", "sheet"] as const;

/** An encoded frame and the facts of its file. */
export interface ExtractedFrame extends EncodedImage {
  facts: MediaFacts;
}

export interface ContactSheet extends ExtractedFrame {
  columns: number;
  rows: number;
  tileWidth: number;
  tileHeight: number;
}

const MAX_CONTACT_SHEET_PIXELS = 64_000_000;

/**
 * Encodes the frame on screen at `time`; after the end, the last one. Errors: `undecodable_media`,
 * `no_video`.
 */
export function extractFrame(path: string, request: FrameRequest): Promise<ExtractedFrame> {
  return withFrames(
    path,
    () => request,
    "bicubic",
    async (draw) => encodeImage(await draw(request.time), request.format),
  );
}

/**
 * Renders `count` frames, evenly spaced from `time` up to but excluding `time + duration` or the
 * end, in row-major order. For the size of the whole sheet, slightly larger tiles are scaled down
 * with it, so that a tile may begin within a pixel. Tiles use the cheaper scaler. Errors:
 * `undecodable_media`, `no_video`, `time_out_of_range`, `bad_request`.
 */
export function renderContactSheet(
  path: string,
  request: ContactSheetRequest,
): Promise<ContactSheet> {
  const { time, count } = request;
  const columns = Math.min(request.columns, count);
  const rows = Math.ceil(count / columns);
  const sheetSize = ({ width, height }: Size) =>
    fitSize({ width: width * columns, height: height * rows }, request).cropped;
  const tileRequest = (video: Size): SizeRequest => {
    if (request.sizeOf === "tile") return request;
    const { width, height } = sheetSize(video);
    return { width: Math.ceil(width / columns), height: Math.ceil(height / rows), fit: "cover" };
  };
  return withFrames(path, tileRequest, "area", async (draw, source, video) => {
    const end = source.durationSeconds;
    if (end !== null && time > 0 && time >= end) {
      throw new EngineError("time_out_of_range", `The video ends at ${end.toFixed(3)} seconds.`);
    }
    const duration = Math.min(request.duration, (end ?? Infinity) - time);
    let contactSheet: Pixels | undefined;
    let tile = { width: 0, height: 0 };
    for (let index = 0; index < count; index++) {
      const pixels = await draw(time + (index * duration) / count);
      contactSheet ??= createContactSheet(pixels, columns, rows);
      if (index === 0) tile = { width: pixels.width, height: pixels.height };
      pasteTile(
        contactSheet,
        pixels,
        (index % columns) * tile.width,
        Math.floor(index / columns) * tile.height,
      );
    }
    if (!contactSheet)
      throw new EngineError("bad_request", "A contact sheet has at least one frame.");
    if (request.sizeOf === "sheet") contactSheet = await stretch(contactSheet, sheetSize(video));
    const encoded = await encodeImage(contactSheet, request.format);
    return { ...encoded, columns, rows, tileWidth: tile.width, tileHeight: tile.height };
  });
}

type Draw = (seconds: number) => Promise<Pixels>;

async function withFrames<T extends EncodedImage>(
  path: string,
  toSize: (video: Size) => SizeRequest,
  scaler: Scaler,
  work: (draw: Draw, source: MediaSource, video: Size) => Promise<T>,
): Promise<T & ExtractedFrame> {
  const source = await openMedia(path);
  try {
    if (!source.video) throw new EngineError("no_video", "The file has no video.");
    const orientation = getOrientation(source.video);
    const reader = await MediaReader.open(source, source.video);
    const frames = new PresentedFrames(reader);
    using renderer = createRenderer(source.video, toSize(orientation), scaler);
    const draw: Draw = async (seconds) => {
      const presented = await frames.at(Math.min(seconds, source.durationSeconds ?? seconds));
      if (!presented) throw new EngineError("undecodable_media", "No frame can be decoded.");
      return renderer.render(presented.frame);
    };
    try {
      return { ...(await work(draw, source, orientation)), facts: toMediaFacts(source) };
    } finally {
      frames.close();
      reader.close();
    }
  } finally {
    await source.close();
  }
}

function createContactSheet(tile: Pixels, columns: number, rows: number): Pixels {
  const [width, height] = [tile.width * columns, tile.height * rows];
  if (width * height > MAX_CONTACT_SHEET_PIXELS) {
    throw new EngineError(
      "bad_request",
      "The contact sheet is too large. Request fewer or smaller tiles.",
    );
  }
  return { data: Buffer.alloc(width * height * 3), width, height };
}

/** Scales an image to a size, whatever its aspect ratio. */
async function stretch({ data, width, height }: Pixels, size: Size): Promise<Pixels> {
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  const scaled = image.resize(size.width, size.height, { fit: "fill" });
  return { data: await scaled.raw().toBuffer(), ...size };
}

function pasteTile(contactSheet: Pixels, tile: Pixels, left: number, top: number): void {
  for (let row = 0; row < tile.height; row++) {
    const from = row * tile.width * 3;
    tile.data.copy(
      contactSheet.data,
      ((top + row) * contactSheet.width + left) * 3,
      from,
      from + tile.width * 3,
    );
  }
}
