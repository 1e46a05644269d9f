import { describe, expect, it } from "vitest";
import { AppError, isDeferrable } from "../../src/errors.ts";
import { toFrameError, toImageError } from "../../src/media/decoder-errors.ts";

const failure = (code: unknown) => Object.assign(new Error("x"), { code });

describe.each([
  ["IMAGES", toImageError, "unreadable_image", "too_large"],
  ["FRAMES", toFrameError, "unreadable_frame", "unreadable_frame"],
] as const)("an error of %s", (_, toError, damaged, tooLarge) => {
  it.each([422, 9412, 9516, 9520])("%s means a damaged file", (code) => {
    expect(toError(failure(code)).code).toBe(damaged);
  });

  it.each([9402, 9413])("%s means a file that is too large", (code) => {
    expect(toError(failure(code)).code).toBe(tooLarge);
  });

  it.each([9422, 9522])("%s passes, and is deferred", (code) => {
    expect(isDeferrable(toError(failure(code)))).toBe(true);
  });

  it.each([
    [9401, "upstream_failed"],
    [9504, "upstream_timeout"],
    [9523, "upstream_failed"],
  ])("%s doesn't blame the file", (code, expected) => {
    expect(toError(failure(code)).code).toBe(expected);
  });

  it.each([failure(9599), failure(undefined), new Error("x"), "x"])(
    "of an unknown code passes: %s",
    (cause) => {
      const error = toError(cause);
      expect(error.code).toBe("upstream_unavailable");
      expect(isDeferrable(error)).toBe(false);
    },
  );

  it("that is an error of the service already stays as it is", () => {
    const error = new AppError("source_missing", "x");
    expect(toError(error)).toBe(error);
  });
});
