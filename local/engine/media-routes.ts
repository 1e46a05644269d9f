import { readFile } from "node:fs/promises";
import { measurePeaks } from "./audio-peaks.ts";
import { saveBody } from "./body.ts";
import type { Capability } from "./capability.ts";
import { type AudioRequest, writeAudio, writeClip } from "./media-clip.ts";
import { FITS } from "./media-fit.ts";
import { type FrameRequest, extractFrame, renderContactSheet, SIZES_OF } from "./media-frame.ts";
import { IMAGE_FORMATS } from "./media-image.ts";
import { type MediaFacts, probeMedia } from "./media-probe.ts";
import { readChoice, readInteger, readNumber } from "./parameters.ts";
import type { Call, Reply, Routes } from "./route.ts";
import type { WorkFolder } from "./work-folder.ts";

export interface MediaStorage {
  folder: WorkFolder;
  maxBytes: number;
}

/** Bytes of a clip: the platform's limit of 100 MB plus a margin for tests of that limit. */
export const MAX_MEDIA_BYTES = 110_000_000;

const TIMES = { min: 0, max: 360_000 };
const DURATIONS = { min: 0.001, max: 3_600 };
const ENCODED_DURATIONS = { min: 0.001, max: 600 };
const PIXELS = { min: 1, max: 4_096 };
const PEAK_STEPS = { min: 0.0001, max: 60 };
const PEAK_STARTS = { min: -3_600, max: 3_600 };
const PEAKS = { min: 1, max: 1_000_000 };
const TILES = { min: 1, max: 100 };

/** Creates the media routes. Bodies are media files, times are seconds, sizes pixels. */
export function createMediaRoutes(media: Capability<void>, storage: MediaStorage): Routes {
  /** Saves the body to a file and runs `work` in the queue; the file is removed afterwards. */
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
      const request = readFrameRequest(call.query);
      return withMedia(call, async (path, signal) => {
        const { bytes, contentType, facts } = await extractFrame(path, request, signal);
        return { bytes, contentType, headers: toHeaders(facts) };
      });
    },
    "POST /media/sheet": (call) => {
      const count = readInteger(call.query, "count", TILES, 9);
      const request = {
        ...readFrameRequest(call.query),
        duration: readNumber(call.query, "duration", DURATIONS, 1),
        count,
        columns: readInteger(call.query, "columns", TILES, Math.ceil(Math.sqrt(count))),
        sizeOf: readChoice(call.query, "size_of", SIZES_OF),
      };
      return withMedia(call, async (path, signal) => {
        const { bytes, contentType, facts, ...grid } = await renderContactSheet(
          path,
          request,
          signal,
        );
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
      const request = {
        ...readRange(call.query),
        width: readInteger(call.query, "width", PIXELS, null),
        audio: readChoice(call.query, "audio", ["true", "false"]) === "true",
      };
      return withMedia(call, (path, signal) =>
        storage.folder.withFile(async (target) => {
          await writeClip(path, target, request, signal);
          return { bytes: await readFile(target), contentType: "video/mp4" };
        }),
      );
    },
    "POST /media/peaks": (call) => {
      const request = {
        start: readNumber(call.query, "start", PEAK_STARTS, 0),
        step: readNumber(call.query, "step", PEAK_STEPS, 0.1),
        count: readInteger(call.query, "count", PEAKS, 1_000),
      };
      return withMedia(call, async (path, signal) => ({
        bytes: Buffer.from(await measurePeaks(path, request, signal)),
        contentType: "application/octet-stream",
      }));
    },
    "POST /media/audio": (call) => {
      const range = readRange(call.query);
      return withMedia(call, (path, signal) =>
        storage.folder.withFile(async (target) => {
          await writeAudio(path, target, range, signal);
          return { bytes: await readFile(target), contentType: "audio/mp4" };
        }),
      );
    },
  };
}

/** Returns the result of a probe as a header. */
function toHeaders(facts: MediaFacts): Record<string, string> {
  return { "x-media-facts": JSON.stringify(facts) };
}

function readFrameRequest(query: URLSearchParams): FrameRequest {
  return {
    time: readNumber(query, "time", TIMES, 0),
    width: readInteger(query, "width", PIXELS, null),
    height: readInteger(query, "height", PIXELS, null),
    fit: readChoice(query, "fit", FITS),
    format: readChoice(query, "format", IMAGE_FORMATS),
  };
}

function readRange(query: URLSearchParams): AudioRequest {
  return {
    time: readNumber(query, "time", TIMES, 0),
    duration: readNumber(query, "duration", ENCODED_DURATIONS, 5),
  };
}
