import { AppError } from "../errors.ts";

/**
 * The Images binding's codes for what is wrong with the file: too large or too many pixels; no picture, an unknown
 * format, too much work (https://developers.cloudflare.com/images/reference/troubleshooting/). The rest are
 * its own troubles, one of which may also be the file's.
 */
const SIZE_ERRORS = new Set<unknown>([9402, 9413]);
const FILE_ERRORS = new Set<unknown>([9412, 9520, 9522]);
const INTERNAL_ERROR = 9523;

/**
 * What the Images binding threw, as an `AppError`: `too_large`, `unreadable_image`, or `upstream_failed` or
 * `upstream_unavailable` where trying again may help. An `AppError` stays what it is.
 */
export function toPictureError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code: unknown = cause instanceof Error && Reflect.get(cause, "code");
  if (SIZE_ERRORS.has(code)) {
    const message =
      "The image is too large: over 12,000 pixels wide or high, 100 million, or 20 MiB.";
    return new AppError("too_large", message, { cause });
  }
  if (FILE_ERRORS.has(code)) return unreadablePicture(cause);
  const trouble = code === INTERNAL_ERROR ? "upstream_failed" : "upstream_unavailable";
  return new AppError(trouble, "Images can't be decoded just now.", { cause });
}

export function unreadablePicture(cause: unknown): AppError {
  return new AppError(
    "unreadable_image",
    "The image can't be decoded: it is damaged or cut off. Save it again as JPEG or PNG.",
    { cause },
  );
}
