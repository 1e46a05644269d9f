import type { VideoCodec } from "mediabunny";
import { INGEST } from "../config.ts";
import { failureOf } from "../errors.ts";
import { Remembered } from "../isolate-memory.ts";
import { log } from "../log.ts";
import { MAX_CLIP_BYTES, withClipMemory } from "./clip-memory.ts";
import { inferSizing, type ContactSheetSizing, toRequestedSize } from "./contact-sheet-size.ts";
import { type Clip, cutFrameClip } from "./container/clips.ts";
import { openContainer, requireVideoTrack } from "./container/open-container.ts";
import type { PresentedVideo } from "./container/presented-track.ts";
import { toFrameError } from "./decoder-errors.ts";
import { hasDecoder } from "./decoder-request.ts";
import {
  type ContactSheetOptions,
  decodeExternally,
  type DecoderEnv,
  type FrameSize,
  type TransformOptions,
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

/** Codec that the documentation of FRAMES promises. */
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
