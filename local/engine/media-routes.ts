import { readFile } from "node:fs/promises";
import type { Ability } from "./ability.ts";
import { saveBody } from "./body.ts";
import { type AudioRequest, writeAudio, writeClip } from "./media-clip.ts";
import { FITS } from "./media-fit.ts";
import { type FrameRequest, takeFrame, takeSheet } from "./media-frame.ts";
import { PICTURE_FORMATS } from "./media-picture.ts";
import { type MediaFacts, probeMedia } from "./media-probe.ts";
import { readChoice, readInteger, readNumber } from "./parameters.ts";
import type { Call, Reply, Routes } from "./routes.ts";
import type { WorkFolder } from "./work-folder.ts";

export interface MediaStorage {
  folder: WorkFolder;
  maxBytes: number;
}

const TIMES = { min: 0, max: 360_000 };
const SPANS = { min: 0.001, max: 3_600 };
const ENCODED_SPANS = { min: 0.001, max: 600 };
const PIXELS = { min: 1, max: 4_096 };
const TILES = { min: 1, max: 100 };

/** Every body is a media file. `time` and `duration` are seconds, sizes pixels. */
export function createMediaRoutes(media: Ability<void>, storage: MediaStorage): Routes {
  /** The file stays on disk, and its place in the queue taken, while `work` runs. */
  const withMedia = (
    { request, signal }: Call,
    work: (path: string, signal: AbortSignal) => Promise<Reply>,
  ) =>
    storage.folder.withFile(async (path) => {
      await saveBody(request, path, storage.maxBytes);
      return media.use((_, limited) => work(path, limited), signal);
    });
  return {
    "POST /media/probe": (call) =>
      withMedia(call, async (path, signal) => ({ json: await probeMedia(path, signal) })),
    "POST /media/frame": (call) => {
      const wanted = readFrameRequest(call.query);
      return withMedia(call, async (path, signal) => {
        const { bytes, contentType, facts } = await takeFrame(path, wanted, signal);
        return { bytes, contentType, headers: toHeaders(facts) };
      });
    },
    "POST /media/sheet": (call) => {
      const count = readInteger(call.query, "count", TILES, 9);
      const wanted = {
        ...readFrameRequest(call.query),
        duration: readNumber(call.query, "duration", SPANS, 1),
        count,
        columns: readInteger(call.query, "columns", TILES, Math.ceil(Math.sqrt(count))),
      };
      return withMedia(call, async (path, signal) => {
        const { bytes, contentType, facts, ...grid } = await takeSheet(path, wanted, signal);
        const headers = {
          ...toHeaders(facts),
          "x-sheet-columns": String(grid.columns),
          "x-sheet-rows": String(grid.rows),
          "x-tile-width": String(grid.tileWidth),
          "x-tile-height": String(grid.tileHeight),
        };
        return { bytes, contentType, headers };
      });
    },
    "POST /media/clip": (call) => {
      const wanted = {
        ...readSpan(call.query),
        width: readInteger(call.query, "width", PIXELS, null),
        audio: readChoice(call.query, "audio", ["true", "false"]) === "true",
      };
      return withMedia(call, (path, signal) =>
        storage.folder.withFile(async (target) => {
          await writeClip(path, target, wanted, signal);
          return { bytes: await readFile(target), contentType: "video/mp4" };
        }),
      );
    },
    "POST /media/audio": (call) => {
      const span = readSpan(call.query);
      return withMedia(call, (path, signal) =>
        storage.folder.withFile(async (target) => {
          await writeAudio(path, target, span, signal);
          return { bytes: await readFile(target), contentType: "audio/mp4" };
        }),
      );
    },
  };
}

/** What a probe would have told. */
function toHeaders(facts: MediaFacts): Record<string, string> {
  return { "x-media-facts": JSON.stringify(facts) };
}

function readFrameRequest(query: URLSearchParams): FrameRequest {
  return {
    time: readNumber(query, "time", TIMES, 0),
    width: readInteger(query, "width", PIXELS, null),
    height: readInteger(query, "height", PIXELS, null),
    fit: readChoice(query, "fit", FITS),
    format: readChoice(query, "format", PICTURE_FORMATS),
  };
}

function readSpan(query: URLSearchParams): AudioRequest {
  return {
    time: readNumber(query, "time", TIMES, 0),
    duration: readNumber(query, "duration", ENCODED_SPANS, 5),
  };
}
