import { readFile } from "node:fs/promises";
import { readBody } from "./body.ts";
import type { Capabilities } from "./capabilities.ts";
import { convertImage } from "./convert-image.ts";
import { convertInProcess, measureInProcess } from "./convert-media.ts";
import type { PartRequest } from "./convert-part.ts";
import { EngineError } from "./errors.ts";
import { decodeHeif, readHeifSize } from "./heif.ts";
import { readChoice, readInteger, readNumber } from "./parameters.ts";
import type { Routes } from "./route.ts";
import { BLOCK_BYTES, StoredFiles } from "./stored-files.ts";
import type { WorkFolder } from "./work-folder.ts";

const MAX_IMAGE_BYTES = 32 * 1024 * 1024;
const PIXELS = { min: 1, max: 4_096 };
const DEFAULT_SIDE = 960;

/** Bytes of a video that is converted: those of an upload. */
const MAX_VIDEO_BYTES = 5 * 1024 ** 3;
const SIZES = { min: 1, max: MAX_VIDEO_BYTES };
const BLOCKS = { min: 0, max: Math.ceil(MAX_VIDEO_BYTES / BLOCK_BYTES) };
const TIMES_MS = { min: 0, max: 12 * 3_600_000 };
const MAX_PIECE_MS = 60_000;
const MAX_ORIGIN_SECONDS = 1e9;
const SIDES = { min: 2, max: 1_280 };
const RATES = { min: 0.001, max: 1_000 };

/**
 * Creates the routes of conversion. A video is sent once, in blocks, to `/conversion/file`; then
 * `/conversion/measure` says what it is, and each `/conversion/part` returns up to a minute of it
 * as MP4. Without the whole file, both return `not_found`.
 *
 * Of the routes that decode images, `/media/image` is the external decoder's: it returns an
 * upright JPEG, with the size of the upright original in headers. `/heif` is part of the stand-in
 * for the Images binding.
 */
export function createConversionRoutes(
  { media, conversion }: Pick<Capabilities, "media" | "conversion">,
  folder: WorkFolder,
): Routes {
  const files = new StoredFiles(folder, MAX_VIDEO_BYTES);
  return {
    "GET /conversion/file": async ({ query }) => {
      const missing = files.missing(readFileId(query), readInteger(query, "size", SIZES, 1));
      return { json: { block_bytes: BLOCK_BYTES, missing } };
    },
    "PUT /conversion/file": async ({ request, query }) => {
      const size = readInteger(query, "size", SIZES, 1);
      const block = readInteger(query, "block", BLOCKS, 0);
      const missing = await files.receive(readFileId(query), size, block, request);
      return { json: { block_bytes: BLOCK_BYTES, missing } };
    },
    "DELETE /conversion/file": async ({ query }) => {
      await files.delete(readFileId(query));
      return { json: {} };
    },
    "POST /conversion/measure": ({ query, signal }) =>
      files.withFile(readFileId(query), (path) =>
        conversion.use(
          async (_, limited) => ({ json: await measureInProcess(path, limited) }),
          signal,
        ),
      ),
    "POST /conversion/part": ({ query, signal }) => {
      const piece = readConvertedPart(query);
      return files.withFile(readFileId(query), (path) =>
        folder.withFile((target) =>
          conversion.use(async (_, limited) => {
            await convertInProcess(path, target, piece, limited);
            return { bytes: await readFile(target), contentType: "video/mp4" };
          }, signal),
        ),
      );
    },
    "POST /media/image": async ({ request, query, signal }) => {
      const side = readInteger(query, "side", PIXELS, DEFAULT_SIDE);
      const body = await readBody(request, MAX_IMAGE_BYTES);
      const { bytes, width, height } = await media.use(() => convertImage(body, side), signal);
      const headers = { "x-image-width": String(width), "x-image-height": String(height) };
      return { bytes, contentType: "image/jpeg", headers };
    },
    "POST /heif": async ({ request, signal }) => {
      const body = await readBody(request, MAX_IMAGE_BYTES);
      const bytes = await media.use((_, limited) => decodeHeif(body, limited), signal);
      return { bytes, contentType: "image/png" };
    },
    "POST /heif/size": async ({ request, signal }) => {
      const body = await readBody(request, MAX_IMAGE_BYTES);
      return { json: await media.use((_, limited) => readHeifSize(body, limited), signal) };
    },
  };
}

function readFileId(query: URLSearchParams): string {
  const id = query.get("file") ?? "";
  if (/^[0-9a-f]{64}$/.test(id)) return id;
  throw new EngineError("bad_request", '"file" has 64 hexadecimal digits.');
}

/** Reads the time that is zero, which may be negative. */
function readOrigin(query: URLSearchParams): number {
  const origin = Number(query.get("origin") ?? 0);
  if (Math.abs(origin) <= MAX_ORIGIN_SECONDS) return origin;
  throw new EngineError("bad_request", '"origin" is a number of seconds.');
}

function readConvertedPart(query: URLSearchParams): PartRequest {
  const startMs = readInteger(query, "start_ms", TIMES_MS, 0);
  const piece = {
    originSeconds: readOrigin(query),
    startMs,
    endMs: readInteger(query, "end_ms", TIMES_MS, startMs),
    frameFormat: query.has("width") ? readFrameFormat(query) : null,
    audio: readChoice(query, "audio", ["false", "true"]) === "true",
  };
  const length = piece.endMs - startMs;
  if (length <= 0 || length > MAX_PIECE_MS || (!piece.frameFormat && !piece.audio)) {
    throw new EngineError("bad_request", "A piece has up to 60 s of pictures or sound.");
  }
  return piece;
}

function readFrameFormat(query: URLSearchParams): NonNullable<PartRequest["frameFormat"]> {
  const frameFormat = {
    width: readInteger(query, "width", SIDES, SIDES.max),
    height: readInteger(query, "height", SIDES, SIDES.max),
    fps: readNumber(query, "fps", RATES, 25),
  };
  if (frameFormat.width % 2 === 0 && frameFormat.height % 2 === 0) return frameFormat;
  throw new EngineError("bad_request", "The sides of a piece are even.");
}
