import { EngineError } from "./errors.ts";
import type { SizeRequest } from "./media-fit.ts";
import { getOrientation } from "./media-orientation.ts";
import {
  createRenderer,
  encodeImage,
  type EncodedImage,
  type ImageFormat,
  type Scaler,
} from "./media-image.ts";
import { toMediaFacts, type MediaFacts } from "./media-probe.ts";
import { MediaReader } from "./media-reader.ts";
import { PresentedFrames } from "./presented-frames.ts";
import { type MediaSource, openMedia } from "./media-source.ts";
import type { Orientation } from "./media-orientation.ts";
import type { Pixels } from "./image.ts";

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
}

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
export function extractFrame(
  path: string,
  request: FrameRequest,
  signal: AbortSignal,
): Promise<ExtractedFrame> {
  return withFrames(path, request, "bicubic", signal, async (draw) =>
    encodeImage(await draw(request.time), request.format),
  );
}

/**
 * Renders `count` frames, evenly spaced from `time` up to but excluding `time + duration` or the
 * end, in row-major order. The requested size is that of a tile; tiles use the cheaper scaler.
 * Errors: `undecodable_media`, `no_video`, `time_out_of_range`, `bad_request`.
 */
export function renderContactSheet(
  path: string,
  request: ContactSheetRequest,
  signal: AbortSignal,
): Promise<ContactSheet> {
  return withFrames(path, request, "area", signal, async (draw, source) => {
    const { time, count } = request;
    const end = source.durationSeconds;
    if (end !== null && time > 0 && time >= end) {
      throw new EngineError("time_out_of_range", `The video ends at ${end.toFixed(3)} seconds.`);
    }
    const duration = Math.min(request.duration, (end ?? Infinity) - time);
    const columns = Math.min(request.columns, count);
    const rows = Math.ceil(count / columns);
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
    const encoded = await encodeImage(contactSheet, request.format);
    return { ...encoded, columns, rows, tileWidth: tile.width, tileHeight: tile.height };
  });
}

type Draw = (seconds: number) => Promise<Pixels>;

async function withFrames<T extends EncodedImage>(
  path: string,
  size: SizeRequest,
  scaler: Scaler,
  signal: AbortSignal,
  work: (draw: Draw, source: MediaSource) => Promise<T>,
): Promise<T & ExtractedFrame> {
  const source = await openMedia(path);
  try {
    if (!source.video) throw new EngineError("no_video", "The file has no video.");
    const orientation: Orientation = getOrientation(source.video);
    const reader = await MediaReader.open(source, source.video, signal);
    const frames = new PresentedFrames(reader);
    using renderer = createRenderer(orientation, size, scaler);
    const draw: Draw = async (seconds) => {
      const presented = await frames.at(Math.min(seconds, source.durationSeconds ?? seconds));
      if (!presented) throw new EngineError("undecodable_media", "No frame can be decoded.");
      return renderer.render(presented.frame);
    };
    try {
      return { ...(await work(draw, source)), facts: toMediaFacts(source) };
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
