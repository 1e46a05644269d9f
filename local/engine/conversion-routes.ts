import type { Capabilities } from "./capabilities.ts";
import type { PartRequest } from "./convert-part.ts";
import type { TaskName, TaskRequest } from "./decoder-process.ts";
import { EngineError } from "./errors.ts";
import { decodeBody } from "./media-routes.ts";
import { readChoice, readInteger, readNumber } from "./parameters.ts";
import type { ByteRange } from "./recordings.ts";
import type { Call, Routes } from "./route.ts";
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
const MAX_PIECE_BYTES = 40_000_000;
/** Wall time of a conversion. */
const CONVERSION_MS = 8 * 60_000;
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
  const images = { folder, maxBytes: MAX_IMAGE_BYTES };
  const convert = <Name extends TaskName>(
    { query, signal, account }: Call,
    name: Name,
    task: TaskRequest<Name>,
  ) =>
    files.withFile(readFileId(query), (path) =>
      conversion.use(
        (processes, limited) =>
          processes.run(name, path, task, { signal: limited, deadlineMs: CONVERSION_MS }),
        signal,
        account,
      ),
    );
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
    "POST /conversion/measure": async (call) => {
      const { value } = await convert(call, "measure", undefined);
      return { json: value };
    },
    "POST /conversion/part": async (call) => {
      const { bytes } = await convert(call, "part", readConvertedPart(call.query));
      if (bytes.length > MAX_PIECE_BYTES) {
        throw new EngineError("too_large", "The piece has too many bytes.");
      }
      return { bytes, contentType: "video/mp4" };
    },
    "POST /media/image": async (call) => {
      const side = readInteger(call.query, "side", PIXELS, DEFAULT_SIDE);
      const { value, bytes } = await decodeBody(call, media, images, "image", side);
      const headers = {
        "x-image-width": String(value.width),
        "x-image-height": String(value.height),
      };
      return { bytes, contentType: "image/jpeg", headers };
    },
    "POST /heif": async (call) => {
      const { bytes } = await decodeBody(call, media, images, "heif", undefined);
      return { bytes, contentType: "image/png" };
    },
    "POST /heif/size": async (call) => {
      const { value } = await decodeBody(call, media, images, "heifSize", undefined);
      return { json: value };
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
    bytes: query.has("start_byte") ? readByteRange(query) : null,
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

function readByteRange(query: URLSearchParams): ByteRange {
  const start = readInteger(query, "start_byte", { min: 0, max: MAX_VIDEO_BYTES }, 0);
  return { start, end: readInteger(query, "end_byte", SIZES, MAX_VIDEO_BYTES) };
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
