import { saveBody } from "./body.ts";
import type { Capability } from "./capability.ts";
import type { TaskName, TaskRequest } from "./decoder-process.ts";
import type { DecoderProcesses } from "./decoder-processes.ts";
import type { AudioRequest } from "./media-clip.ts";
import { FITS } from "./media-fit.ts";
import { type FrameRequest, SIZES_OF } from "./media-frame.ts";
import { IMAGE_FORMATS } from "./media-image.ts";
import type { MediaFacts } from "./media-probe.ts";
import { readChoice, readInteger, readNumber } from "./parameters.ts";
import type { Call, Routes } from "./route.ts";
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

/** Wall time of a task: the service waits for two minutes. */
const DEADLINE_MS = 100_000;

/** Saves the body to a file, and runs a task on it in a process of its own. */
export async function decodeBody<Name extends TaskName>(
  { request, signal, account }: Call,
  media: Capability<DecoderProcesses>,
  { folder, maxBytes }: MediaStorage,
  name: Name,
  task: TaskRequest<Name>,
) {
  return folder.withFile(async (path) => {
    await saveBody(request, path, maxBytes);
    return media.use(
      (processes, limited) =>
        processes.run(name, path, task, { signal: limited, deadlineMs: DEADLINE_MS }),
      signal,
      account,
    );
  });
}

/** Creates the media routes. Bodies are media files, times are seconds, sizes pixels. */
export function createMediaRoutes(
  media: Capability<DecoderProcesses>,
  storage: MediaStorage,
): Routes {
  const decode = <Name extends TaskName>(call: Call, name: Name, task: TaskRequest<Name>) =>
    decodeBody(call, media, storage, name, task);
  return {
    "POST /media/probe": async (call) => ({ json: (await decode(call, "probe", undefined)).value }),
    "POST /media/frame": async (call) => {
      const { value, bytes } = await decode(call, "frame", readFrameRequest(call.query));
      return { bytes, contentType: value.contentType, headers: toHeaders(value.facts) };
    },
    "POST /media/sheet": async (call) => {
      const count = readInteger(call.query, "count", TILES, 9);
      const { value, bytes } = await decode(call, "sheet", {
        ...readFrameRequest(call.query),
        duration: readNumber(call.query, "duration", DURATIONS, 1),
        count,
        columns: readInteger(call.query, "columns", TILES, Math.ceil(Math.sqrt(count))),
        sizeOf: readChoice(call.query, "size_of", SIZES_OF),
      });
      const headers = {
        ...toHeaders(value.facts),
        "x-sheet-columns": String(value.columns),
        "x-sheet-rows": String(value.rows),
        "x-tile-width": String(value.tileWidth),
        "x-tile-height": String(value.tileHeight),
      };
      return { bytes, contentType: value.contentType, headers };
    },
    "POST /media/clip": async (call) => {
      const { bytes } = await decode(call, "clip", {
        ...readRange(call.query),
        width: readInteger(call.query, "width", PIXELS, null),
        audio: readChoice(call.query, "audio", ["true", "false"]) === "true",
      });
      return { bytes, contentType: "video/mp4" };
    },
    "POST /media/peaks": async (call) => {
      const { bytes } = await decode(call, "peaks", {
        start: readNumber(call.query, "start", PEAK_STARTS, 0),
        step: readNumber(call.query, "step", PEAK_STEPS, 0.1),
        count: readInteger(call.query, "count", PEAKS, 1_000),
      });
      return { bytes, contentType: "application/octet-stream" };
    },
    "POST /media/audio": async (call) => {
      const { bytes } = await decode(call, "audio", readRange(call.query));
      return { bytes, contentType: "audio/mp4" };
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
