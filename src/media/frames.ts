import type { VideoCodec } from "mediabunny";
import { INGEST } from "../config.ts";
import { failureOf } from "../errors.ts";
import { Remembered } from "../isolate-memory.ts";
import { log } from "../log.ts";
import { SharedBudget } from "../shared-budget.ts";
import type { TimeRange } from "../time-range.ts";
import { type Clip, cutFrameClip, maxClipBytes } from "./container/clips.ts";
import { openContainer, requireVideoTrack } from "./container/open-container.ts";
import type { PresentedVideo } from "./container/timeline.ts";
import { toFrameError } from "./decoder-errors.ts";
import {
  type ContactSheetOptions,
  decodeExternally,
  type DecoderEnv,
  type FrameSize,
  type TransformOptions,
  hasDecoder,
} from "./decoder.ts";
import { readImageSize } from "./pixels/image-size.ts";
import type { Size } from "./pixels/rect.ts";

/**
 * Decodes the frame of a track that is on screen at `seconds` into a JPEG, at most
 * `INGEST.keyframeWidth` wide. Throws what `cutFrameClip` throws, `unreadable_frame` for a damaged
 * frame, `unsupported_codec` without a decoder for its codec, and `upstream_failed` or
 * `upstream_unavailable` when a retry may help.
 */
export function decodeFrame(
  env: DecoderEnv,
  track: PresentedVideo,
  seconds: number,
): Promise<Uint8Array> {
  const size = { width: INGEST.keyframeWidth, fit: "scale-down" } as const;
  return withClipMemory(track, { start: seconds, end: seconds }, async () => {
    return transformClip(env, await cutFrameClip(track, seconds, MAX_CLIP_BYTES), { size });
  });
}

/**
 * Extracts the frame of a stored video that is on screen at `seconds`, as a JPEG. Throws what
 * `decodeFrame` throws, and `source_missing`.
 */
export async function extractFrameAt(
  env: DecoderEnv & Pick<Env, "MEDIA">,
  key: string,
  seconds: number,
): Promise<Uint8Array> {
  using input = await openContainer(env.MEDIA, key, { start: seconds, end: seconds });
  return await decodeFrame(env, requireVideoTrack(input), seconds);
}

const DOCUMENTED_CODEC = "avc" satisfies VideoCodec;

/** How FRAMES read the requested size of the last contact sheet in this isolate. */
const contactSheetSizing = new Remembered<ContactSheetSizing>("tile");

/** Returns how FRAMES reads the requested size of a contact sheet, as this isolate has seen it. */
export function getContactSheetSizing(): ContactSheetSizing {
  return contactSheetSizing.value;
}

/**
 * Decodes a clip into a JPEG, by FRAMES or by the external decoder, which also gets what FRAMES
 * refuses though `FRAMES_CODECS` has its codec. Throws what `decodeFrame` throws.
 */
export async function transformClip(
  env: DecoderEnv,
  clip: Clip,
  options: TransformOptions,
): Promise<Uint8Array> {
  if (!isDecodedByFrames(env, clip.codec)) return decodeExternally(env, clip, options);
  try {
    return await transformByFrames(env.FRAMES, clip, options);
  } catch (error) {
    if (clip.codec === DOCUMENTED_CODEC || !hasDecoder(env)) throw error;
    log("warn", "decoder.codec_refused", { codec: clip.codec, code: failureOf(error).code });
    return decodeExternally(env, clip, options);
  }
}

/** Whether FRAMES decodes a codec: by its documentation, or as `FRAMES_CODECS` says. */
export function isDecodedByFrames(
  { FRAMES_CODECS }: Pick<DecoderEnv, "FRAMES_CODECS">,
  codec: VideoCodec,
): boolean {
  return codec === DOCUMENTED_CODEC || FRAMES_CODECS.split(/[\s,]+/).includes(codec);
}

/** Decodes a clip by FRAMES, whatever its codec. Throws what `toFrameError` returns. */
export function transformByFrames(
  frames: MediaBinding,
  clip: Clip,
  options: TransformOptions,
): Promise<Uint8Array> {
  return options.contactSheet
    ? makeContactSheet(frames, clip, options.contactSheet)
    : transform(frames, clip, options.size, { mode: "frame" });
}

/**
 * Makes a contact sheet by FRAMES. Makes a second one if the tiles are too small, because FRAMES
 * read the size of a tile as that of the whole sheet. Later requests use what was learned.
 */
async function makeContactSheet(
  frames: MediaBinding,
  clip: Clip,
  { count, seconds, tile }: ContactSheetOptions,
): Promise<Uint8Array> {
  const output = {
    mode: "spritesheet",
    imageCount: count,
    ...(seconds && { duration: `${seconds.toFixed(3)}s` }),
  } as const;
  const make = (requested: Size) =>
    transform(frames, clip, { ...requested, fit: "contain" }, output);
  const assumed = contactSheetSizing.value;
  const requested = toRequestedSize(assumed, tile, count);
  const jpeg = await make(requested).catch((error: unknown) => {
    contactSheetSizing.value = "tile"; // tiles of a whole sheet's size may be too large for FRAMES
    throw error;
  });
  const size = readImageSize(jpeg);
  const sizing = (size && inferSizing(size, requested, count)) ?? assumed;
  contactSheetSizing.value = sizing;
  return sizing === assumed ? jpeg : make(toRequestedSize(sizing, tile, count));
}

async function transform(
  frames: MediaBinding,
  clip: Clip,
  size: FrameSize,
  output: MediaTransformationOutputOptions,
): Promise<Uint8Array> {
  try {
    // A Blob's stream has a known length, as that of a FixedLengthStream has.
    const response = await frames
      .input(clip.file.stream())
      .transform(size)
      .output({ ...output, time: `${clip.atSeconds.toFixed(3)}s`, format: "jpg" })
      .response();
    if (!response.ok) throw await errorOfResponse(response);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw toFrameError(cause);
  }
}

async function errorOfResponse(response: Response): Promise<Error> {
  const header = response.headers.get("cf-resized") ?? "";
  return new Error(`${response.status} ${header}: ${await response.text()}`);
}

const MIB = 1024 * 1024;
/** Largest sum of the packets of one clip. */
export const MAX_CLIP_BYTES = 14 * MIB;
/** Copies of a clip in memory while it is made: packets, written sections, finished file. */
const COPIES = 3;
/** For all clips of an isolate, which has 128 MB for everything. */
const BUDGET_BYTES = 48 * MIB;
/** Longer than it takes to make and decode a clip. */
const MAX_HOLD_MS = 180_000;

const budget = new SharedBudget(BUDGET_BYTES, MAX_HOLD_MS);

/**
 * Makes and sends a clip of a time range, of at most `MAX_CLIP_BYTES`, within the memory that all
 * clips of this isolate share. Waits while other clips hold the memory.
 */
export async function withClipMemory<T>(
  track: PresentedVideo,
  range: TimeRange,
  work: () => Promise<T>,
): Promise<T> {
  return budget.run(COPIES * (await maxClipBytes(track, range, MAX_CLIP_BYTES)), work);
}

/**
 * How FRAMES reads `width` and `height` of a contact sheet: as the size of each tile, or of the
 * whole sheet. The documentation doesn't say. In each case the frames keep their aspect ratio.
 */
type ContactSheetSizing = "tile" | "sheet";

const MAX_SIDE = 2000;
/** Share of a requested side by which a result may exceed it, because it is rounded. */
const TOLERANCE = 0.5;

/**
 * Returns the size to request for a contact sheet, so that its tiles have a size. The grid isn't
 * known in advance: a whole sheet is as large as `count` tiles beside or below each other take.
 * Where that exceeds what FRAMES makes, its sides stay multiples of `count`, so that the tiles of
 * most grids begin at whole pixels: others would mix with their neighbours.
 */
export function toRequestedSize(sizing: ContactSheetSizing, tile: Size, count: number): Size {
  if (sizing === "tile") return tile;
  const maxSide = Math.floor(MAX_SIDE / count);
  return {
    width: count * Math.min(maxSide, tile.width),
    height: count * Math.min(maxSide, tile.height),
  };
}

/**
 * Infers how FRAMES read the requested size: a sheet of several tiles of that size exceeds it.
 * Returns null for a sheet of one tile.
 */
export function inferSizing(
  sheet: Size,
  requested: Size,
  count: number,
): ContactSheetSizing | null {
  if (count === 1) return null;
  const exceeds =
    sheet.width > requested.width * (1 + TOLERANCE) ||
    sheet.height > requested.height * (1 + TOLERANCE);
  return exceeds ? "tile" : "sheet";
}
