import { AppError } from "../errors.ts";
import { log } from "../log.ts";

/**
 * What an error code of the bindings IMAGES and FRAMES (Media Transformations) means. Only codes
 * that are known to mean a bad input may blame the file
 * (https://developers.cloudflare.com/images/reference/troubleshooting/ and
 * https://developers.cloudflare.com/stream/transform-videos/troubleshooting/).
 */
type Meaning = "damaged" | "too_large" | "our_fault" | "internal" | "timeout" | "busy" | "quota";

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

/** Seconds after which work that met a limit is tried again. */
const RETRY_SECONDS = { busy: 30, quota: 900 } as const;

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

function toDecoderError(cause: unknown, binding: Binding): AppError {
  if (cause instanceof AppError) return cause;
  const code = errorCodeOf(cause);
  const meaning = code === null ? undefined : MEANINGS[code];
  const fail = (errorCode: AppError["code"], message: string, retryAfter?: number) =>
    new AppError(errorCode, message, { cause, ...(retryAfter !== undefined && { retryAfter }) });
  switch (meaning) {
    case "damaged":
      return binding === "IMAGES" ? unreadableImage(cause) : unreadableFrame(cause);
    case "too_large":
      return binding === "FRAMES" ? unreadableFrame(cause) : tooLarge(cause);
    case "our_fault":
      log("error", "decoder.request_rejected", { binding, code });
      return fail("upstream_failed", `${binding} rejected our request: a fault of this service.`);
    case "internal":
      return fail("upstream_failed", `${binding} failed without a reason.`);
    case "timeout":
      return fail("upstream_timeout", `${binding} took too long.`);
    case "busy":
      return fail("upstream_unavailable", `${binding} is too busy.`, RETRY_SECONDS.busy);
    case "quota":
      return fail(
        "upstream_unavailable",
        "The month's transformations of this deployment are used up.",
        RETRY_SECONDS.quota,
      );
    default:
      log("warn", "decoder.unknown_error", { binding, code });
      return fail("upstream_unavailable", `${binding} doesn't answer as it should.`);
  }
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
    "The image is too large: over 12,000 pixels wide or high, 100 million, or 20 MiB.";
  return new AppError("too_large", message, { cause });
}

export function unreadableImage(cause: unknown): AppError {
  return new AppError(
    "unreadable_image",
    "The image can't be decoded: it is damaged or cut off. Save it again as JPEG or PNG.",
    { cause },
  );
}

function unreadableFrame(cause: unknown): AppError {
  return new AppError("unreadable_frame", "A frame can't be decoded.", { cause });
}
