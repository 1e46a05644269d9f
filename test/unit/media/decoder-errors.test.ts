import { describe, expect, it } from "vitest";
import { ERROR_SHAPES, imagesError, mediaError } from "../../../local/engine-client.ts";
import { AppError, isDeferrable, isRetryable } from "../../../src/errors.ts";
import { toFrameError, toImageError } from "../../../src/media/decoder-errors.ts";

/** What an error is for the service: its code there, and what becomes of the work. */
const OUTCOMES = {
  damaged: { IMAGES: "unreadable_image", FRAMES: "unreadable_frame", work: "ends" },
  tooLarge: { IMAGES: "too_large", FRAMES: "unreadable_frame", work: "ends" },
  ourFault: { IMAGES: "upstream_failed", FRAMES: "upstream_failed", work: "is retried" },
  timeout: { IMAGES: "upstream_timeout", FRAMES: "upstream_timeout", work: "is retried" },
  passing: { IMAGES: "upstream_unavailable", FRAMES: "upstream_unavailable", work: "is deferred" },
  unknown: { IMAGES: "upstream_unavailable", FRAMES: "upstream_unavailable", work: "is retried" },
} as const;

const CODES: [code: number, outcome: keyof typeof OUTCOMES][] = [
  [422, "damaged"],
  [9401, "ourFault"],
  [9402, "tooLarge"],
  [9412, "damaged"],
  [9413, "tooLarge"],
  [9422, "passing"],
  [9432, "ourFault"],
  [9504, "timeout"],
  [9516, "damaged"],
  [9517, "damaged"],
  [9520, "damaged"],
  [9522, "passing"],
  [9523, "ourFault"],
  [9599, "unknown"],
];

function workAfter(error: AppError): string {
  if (isDeferrable(error)) return "is deferred";
  return isRetryable(error, 1) ? "is retried" : "ends";
}

const NUMBERS = "a frame of 9000 × 422 pixels after 9504 ms";

/** Messages with a code, in places where codes stand, beside numbers that aren't codes. */
const MESSAGES: [message: string, code: string, outcome: keyof typeof OUTCOMES][] = [
  ["MediaError: MEDIA_TRANSFORM_ERROR 9412: not a video", "9412", "damaged"],
  [`MEDIA_TRANSFORM_ERROR 9401: ${NUMBERS}`, "9401", "ourFault"],
  [`IMAGES_INFO_ERROR 422: ${NUMBERS}`, "422", "damaged"],
  [`Unexpected error response 500: 9412 ${NUMBERS}`, "9412", "damaged"],
  ["cf-resized: err=9517", "9517", "damaged"],
  ["422 Unprocessable Content", "422", "damaged"],
  ["The transformation failed (code 9522).", "9522", "passing"],
];

describe.each([
  ["IMAGES", toImageError, imagesError],
  ["FRAMES", toFrameError, mediaError],
] as const)("an error of %s", (binding, toError, standInError) => {
  describe.each(ERROR_SHAPES)("in the shape %s", (shape) => {
    it.each(CODES)("with the code %s is %s", (code, outcome) => {
      const error = toError(standInError(code, "the video is 9 pixels wide", shape));
      const { [binding]: expected, work } = OUTCOMES[outcome];
      expect({ code: error.code, work: workAfter(error) }).toEqual({ code: expected, work });
    });
  });

  it.each(MESSAGES)("with the message %s has the code %s", (message, _, outcome) => {
    expect(toError(new Error(message)).code).toBe(OUTCOMES[outcome][binding]);
  });

  it("with its code as text is read", () => {
    const cause = Object.assign(new Error("x"), { code: "9412" });
    expect(toError(cause).code).toBe(OUTCOMES.damaged[binding]);
  });

  it("with a property `code` that isn't a number is read from the message", () => {
    const cause = Object.assign(standInError(9412, "x"), { code: "ERR" });
    expect(toError(cause).code).toBe(OUTCOMES.damaged[binding]);
  });

  it("with a message that only a foreign object has is read", () => {
    expect(toError({ message: "err=9412" }).code).toBe(OUTCOMES.damaged[binding]);
  });

  it.each([new Error(`lost after 422 bytes of ${NUMBERS}`), new Error("x"), "x", null])(
    "without a code blames nobody: %s",
    (cause) => {
      const error = toError(cause);
      expect(error.code).toMatch(/^upstream_/);
      expect(isDeferrable(error)).toBe(false);
    },
  );

  it("that is an error of the service already stays as it is", () => {
    const error = new AppError("source_missing", "x");
    expect(toError(error)).toBe(error);
  });
});

it("a file that the decoder fails at gets one more try", () => {
  const error = new AppError("too_complex", "The decoder fails at this file.");
  expect([1, 2].map((attempt) => isRetryable(error, attempt))).toEqual([true, false]);
});
