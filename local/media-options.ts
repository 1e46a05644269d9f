import { mediaError } from "./engine-client.ts";

const MIN_PIXELS = 10;
const MAX_PIXELS = 2000;
const MIN_OUTPUT_SECONDS = 1;
const MAX_OUTPUT_SECONDS = 60;
const DEFAULT_OUTPUT_SECONDS = 30;
const FITS = new Set(["contain", "cover", "scale-down"]);

type Mode = NonNullable<MediaTransformationOutputOptions["mode"]>;
type Format = "jpg" | "png" | "m4a" | "mp4";

/** Formats by mode; the first is the default. */
const FORMATS: Record<Mode, [Format, ...Format[]]> = {
  frame: ["jpg", "png"],
  spritesheet: ["jpg"],
  audio: ["m4a"],
  video: ["mp4"],
};
const CONTENT_TYPES = { jpg: "image/jpeg", png: "image/png", m4a: "audio/mp4", mp4: "video/mp4" };

export interface Size {
  width: number | undefined;
  height: number | undefined;
  fit: "contain" | "cover" | "scale-down";
}

export interface Output {
  mode: Mode;
  time: number;
  /** Seconds; undefined is the rest of the input, at most 30 s. */
  duration: number | undefined;
  imageCount: number | undefined;
  audio: boolean;
  format: Format;
}

/** Throws 9401 if a side is not an integer within 10–2000 pixels or the fit is unknown. */
export function parseSize(options: MediaTransformationInputOptions = {}): Size {
  const { width, height, fit = "contain" } = options;
  for (const [name, pixels] of Object.entries({ width, height })) {
    if (pixels === undefined) continue;
    if (!Number.isInteger(pixels) || pixels < MIN_PIXELS || pixels > MAX_PIXELS) {
      throw mediaError(9401, `${name} must be ${MIN_PIXELS}–${MAX_PIXELS} pixels, got ${pixels}`);
    }
  }
  if (!FITS.has(fit)) throw mediaError(9401, `unknown fit "${fit}"`);
  return { width, height, fit };
}

/**
 * Throws 9401 if an option is unknown, out of range or invalid for the mode, and for more than
 * `maxImageCount` images.
 */
export function parseOutput(
  options: MediaTransformationOutputOptions = {},
  maxImageCount = Infinity,
): Output {
  const { mode = "video", time = "0s", duration, imageCount, audio = true } = options;
  if (!(mode in FORMATS)) throw mediaError(9401, `unknown mode "${mode}"`);
  const format = options.format ?? FORMATS[mode][0];
  if (!FORMATS[mode].includes(format)) {
    throw mediaError(9401, `format "${format}" doesn't go with mode "${mode}"`);
  }
  if (imageCount !== undefined && (!Number.isInteger(imageCount) || imageCount < 1)) {
    throw mediaError(9401, `imageCount must be a positive whole number, got ${imageCount}`);
  }
  if (imageCount !== undefined && imageCount > maxImageCount) {
    throw mediaError(9401, `imageCount must be at most ${maxImageCount}, got ${imageCount}`);
  }
  return {
    mode,
    time: parseSeconds("time", time),
    duration: duration === undefined ? undefined : parseDuration(duration),
    imageCount,
    audio,
    format,
  };
}

export function getContentType({ format }: Output): string {
  return CONTENT_TYPES[format];
}

/** Returns the seconds of input that an output covers, up to the end of the input. */
export function outputSeconds({ time, duration }: Output, inputSeconds: number): number {
  return Math.min(duration ?? DEFAULT_OUTPUT_SECONDS, inputSeconds - time);
}

function parseDuration(text: string): number {
  const seconds = parseSeconds("duration", text);
  if (seconds < MIN_OUTPUT_SECONDS || seconds > MAX_OUTPUT_SECONDS) {
    throw mediaError(
      9401,
      `duration must be ${MIN_OUTPUT_SECONDS}–${MAX_OUTPUT_SECONDS} s, got ${text}`,
    );
  }
  return seconds;
}

/** Parses `"2s"`, `"2.5s"`, `"1m"` or `"1m2s"`; a bare number throws 9401. */
function parseSeconds(name: string, text: string): number {
  const parts = /^(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(text);
  if (!parts || text === "") throw mediaError(9401, `${name} must be like "1m2.5s", got "${text}"`);
  return Number(parts[1] ?? 0) * 60 + Number(parts[2] ?? 0);
}
