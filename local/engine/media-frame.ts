import { EngineError } from "./errors.ts";
import type { Wanted } from "./media-fit.ts";
import { getOrientation } from "./media-orientation.ts";
import {
  createRenderer,
  encodePicture,
  type EncodedPicture,
  type PictureFormat,
  type Scaler,
} from "./media-picture.ts";
import { factsOf, type MediaFacts } from "./media-probe.ts";
import { MediaReader } from "./media-reader.ts";
import { ShownFrames } from "./media-shown.ts";
import { type MediaSource, openMedia } from "./media-source.ts";
import type { Orientation } from "./media-orientation.ts";
import type { Pixels } from "./picture.ts";

export interface FrameRequest extends Wanted {
  /** Seconds from the start of the video. */
  time: number;
  format: PictureFormat;
}

export interface SheetRequest extends FrameRequest {
  /** Seconds the sheet looks at. */
  duration: number;
  count: number;
  columns: number;
}

/** A picture of a file, and what the file is. */
export interface Taken extends EncodedPicture {
  facts: MediaFacts;
}

export interface Sheet extends Taken {
  columns: number;
  rows: number;
  tileWidth: number;
  tileHeight: number;
}

const MAX_SHEET_PIXELS = 64_000_000;

/**
 * The picture on screen at `time`; after the end, the last one. Errors: `undecodable_media`,
 * `no_video`.
 */
export function takeFrame(
  path: string,
  request: FrameRequest,
  signal: AbortSignal,
): Promise<Taken> {
  return withFrames(path, request, "bicubic", signal, async (draw) =>
    encodePicture(await draw(request.time), request.format),
  );
}

/**
 * `count` pictures, evenly spaced from `time` up to but not including `time + duration` or the end,
 * row by row; the size is that of one tile, for which the cheaper scaler does. Errors: as `takeFrame`,
 * `time_out_of_range`, `bad_request`.
 */
export function takeSheet(
  path: string,
  request: SheetRequest,
  signal: AbortSignal,
): Promise<Sheet> {
  return withFrames(path, request, "area", signal, async (draw, source) => {
    const { time, count } = request;
    const end = source.durationSeconds;
    if (end !== null && time > 0 && time >= end) {
      throw new EngineError("time_out_of_range", `The video ends at ${end.toFixed(3)} seconds.`);
    }
    const duration = Math.min(request.duration, (end ?? Infinity) - time);
    const columns = Math.min(request.columns, count);
    const rows = Math.ceil(count / columns);
    let sheet: Pixels | undefined;
    let tile = { width: 0, height: 0 };
    for (let index = 0; index < count; index++) {
      const pixels = await draw(time + (index * duration) / count);
      sheet ??= createSheet(pixels, columns, rows);
      if (index === 0) tile = { width: pixels.width, height: pixels.height };
      placeTile(
        sheet,
        pixels,
        (index % columns) * tile.width,
        Math.floor(index / columns) * tile.height,
      );
    }
    if (!sheet) throw new EngineError("bad_request", "A sheet has at least one picture.");
    const encoded = await encodePicture(sheet, request.format);
    return { ...encoded, columns, rows, tileWidth: tile.width, tileHeight: tile.height };
  });
}

type Draw = (seconds: number) => Promise<Pixels>;

async function withFrames<T extends EncodedPicture>(
  path: string,
  wanted: Wanted,
  scaler: Scaler,
  signal: AbortSignal,
  work: (draw: Draw, source: MediaSource) => Promise<T>,
): Promise<T & Taken> {
  const source = await openMedia(path);
  try {
    if (!source.video) throw new EngineError("no_video", "The file has no video.");
    const orientation: Orientation = getOrientation(source.video);
    const reader = await MediaReader.open(source, source.video, signal);
    const frames = new ShownFrames(reader);
    using renderer = createRenderer(orientation, wanted, scaler);
    const draw: Draw = async (seconds) => {
      const shown = await frames.at(Math.min(seconds, source.durationSeconds ?? seconds));
      if (!shown) throw new EngineError("undecodable_media", "No frame can be decoded.");
      return renderer.render(shown.frame);
    };
    try {
      return { ...(await work(draw, source)), facts: factsOf(source) };
    } finally {
      frames.close();
      reader.close();
    }
  } finally {
    await source.close();
  }
}

function createSheet(tile: Pixels, columns: number, rows: number): Pixels {
  const [width, height] = [tile.width * columns, tile.height * rows];
  if (width * height > MAX_SHEET_PIXELS) {
    throw new EngineError("bad_request", "The sheet is too large. Ask for fewer or smaller tiles.");
  }
  return { data: Buffer.alloc(width * height * 3), width, height };
}

function placeTile(sheet: Pixels, tile: Pixels, left: number, top: number): void {
  for (let row = 0; row < tile.height; row++) {
    const from = row * tile.width * 3;
    tile.data.copy(sheet.data, ((top + row) * sheet.width + left) * 3, from, from + tile.width * 3);
  }
}
