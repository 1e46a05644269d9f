import { AppError } from "../../errors.ts";

/**
 * The Images binding's error codes for a bad file: too many bytes or pixels; no image, an unknown
 * format, or too much work. The other codes are internal errors, one of which a bad file may also
 * cause (https://developers.cloudflare.com/images/reference/troubleshooting/).
 */
const SIZE_ERRORS = new Set<unknown>([9402, 9413]);
const FILE_ERRORS = new Set<unknown>([9412, 9520, 9522]);
const INTERNAL_ERROR = 9523;

/**
 * Converts an error of the Images binding: `too_large`, `unreadable_image`, or `upstream_failed` or
 * `upstream_unavailable` when a retry may help. Returns an `AppError` unchanged.
 */
export function toImageError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code: unknown = cause instanceof Error && Reflect.get(cause, "code");
  if (SIZE_ERRORS.has(code)) {
    const message =
      "The image is too large: over 12,000 pixels wide or high, 100 million, or 20 MiB.";
    return new AppError("too_large", message, { cause });
  }
  if (FILE_ERRORS.has(code)) return unreadableImage(cause);
  const upstreamCode = code === INTERNAL_ERROR ? "upstream_failed" : "upstream_unavailable";
  return new AppError(upstreamCode, "Images can't be decoded just now.", { cause });
}

export function unreadableImage(cause: unknown): AppError {
  return new AppError(
    "unreadable_image",
    "The image can't be decoded: it is damaged or cut off. Save it again as JPEG or PNG.",
    { cause },
  );
}
