import { AppError, type ErrorCode } from "../errors.ts";
import { log } from "../log.ts";

/**
 * What an error code of the bindings IMAGES and FRAMES (Media Transformations) means. Only codes
 * that are known to mean a bad input may blame the file
 * (https://developers.cloudflare.com/images/reference/troubleshooting/ and
 * https://developers.cloudflare.com/stream/transform-videos/troubleshooting/).
 */
type Meaning = "damaged" | "too_large" | keyof typeof FAULTS;

const MEANINGS: Readonly<Record<number, Meaning>> = {
  422: "damaged", // can't be decoded
  9401: "our_fault", // a wrong option
  9402: "too_large",
  9412: "damaged", // no image, no video, or of an unsupported format
  9413: "too_large",
  9422: "quota", // of the month
  9432: "our_fault", // a wrong option of IMAGES
  9504: "timeout", // which one bad file may cause again and again, as 9523
  9516: "damaged", // can't be decoded
  9517: "damaged", // an error of the input
  9520: "damaged", // of an unsupported format
  9522: "busy",
  9523: "internal",
};

/**
 * Errors that don't blame the input: the code, what the binding does, and the seconds after which
 * work that met a limit is tried again.
 */
const FAULTS = {
  our_fault: ["upstream_failed", "rejected our request: a fault of this service"],
  internal: ["upstream_failed", "failed without a reason"],
  timeout: ["upstream_timeout", "took too long"],
  busy: ["upstream_unavailable", "is too busy", 30],
  quota: ["upstream_unavailable", "has used up the month's transformations", 900],
  unknown: ["upstream_unavailable", "doesn't answer as it should"],
} as const satisfies Record<string, readonly [ErrorCode, string, retrySeconds?: number]>;

type Binding = "IMAGES" | "FRAMES";

/**
 * Converts an error of the Images binding: `unreadable_image`, `too_large`, `upstream_failed`,
 * `upstream_timeout`, or `upstream_unavailable`, which is deferred until the quota or the load has
 * passed. Returns an `AppError` unchanged.
 */
export function toImageError(cause: unknown): AppError {
  return toDecoderError(cause, "IMAGES");
}

/** Converts an error of FRAMES like `toImageError`, a bad input to `unreadable_frame`. */
export function toFrameError(cause: unknown): AppError {
  return toDecoderError(cause, "FRAMES");
}

const REJECTED = 9401;

/** Whether an error of `toFrameError` says that FRAMES refused an option. */
export function isRejected(error: unknown): boolean {
  return error instanceof AppError && errorCodeOf(error.cause) === REJECTED;
}

function toDecoderError(cause: unknown, binding: Binding): AppError {
  if (cause instanceof AppError) return cause;
  const code = errorCodeOf(cause);
  const meaning = MEANINGS[code ?? 0] ?? "unknown";
  if (meaning === "damaged" || meaning === "too_large") {
    if (binding === "FRAMES") return unreadableFrame(cause);
    return meaning === "damaged" ? unreadableImage(cause) : tooLarge(cause);
  }
  if (meaning === "our_fault") log("error", "decoder.request_rejected", { binding, code });
  if (meaning === "unknown") log("warn", "decoder.unknown_error", { binding, code });
  const [errorCode, what, retryAfter] = FAULTS[meaning];
  const options = { cause, ...(retryAfter !== undefined && { retryAfter }) };
  return new AppError(errorCode, `${binding} ${what}.`, options);
}

/** Numbers in places where codes stand, as in `…_ERROR 9412: …` or `Cf-Resized: err=9412`. */
const STATED_CODES = /(?<=^|(?:err|error|code|status|response)\W{1,3})\d{3,4}\b/gi;
/** Numbers that may be codes, wherever they stand. */
const POSSIBLE_CODES = /\b9[45]\d\d\b/g;

/**
 * Reads the code of an error from its property `code`, as the types say, or from its message: the
 * property doesn't survive an RPC. Returns null without a code.
 */
function errorCodeOf(cause: unknown): number | null {
  if (typeof cause !== "object" || cause === null) return null;
  const { code, message } = cause as { code?: unknown; message?: unknown };
  if (/^\d{3,4}$/.test(String(code))) return Number(code);
  const text = String(message);
  const found = [STATED_CODES, POSSIBLE_CODES].flatMap((pattern) => text.match(pattern) ?? []);
  const codes = found.map(Number);
  return codes.find((known) => known in MEANINGS) ?? codes[0] ?? null;
}

export function tooLarge(cause: unknown): AppError {
  const message =
    "The image is too large: over 12,000 pixels wide or high, 100 million (50 million in some " +
    "formats), or 20 MiB.";
  return new AppError("too_large", message, { cause });
}

export function unreadableImage(cause: unknown): AppError {
  return new AppError(
    "unreadable_image",
    "The image can't be decoded: it is damaged or cut off. Save it again as JPEG or PNG.",
    { cause },
  );
}

export function unreadableFrame(cause: unknown): AppError {
  return new AppError("unreadable_frame", "A frame can't be decoded.", { cause });
}
