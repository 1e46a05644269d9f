import { expect, it } from "vitest";
import { AppError } from "../../src/errors.ts";
import { toImageError } from "../../src/media/pixels/image-errors.ts";

it.each<[unknown, string]>([
  [Object.assign(new Error("x"), { code: 9402 }), "too_large"],
  [Object.assign(new Error("x"), { code: 9413 }), "too_large"],
  [Object.assign(new Error("x"), { code: 9412 }), "unreadable_image"],
  [Object.assign(new Error("x"), { code: 9520 }), "unreadable_image"],
  [Object.assign(new Error("x"), { code: 9522 }), "unreadable_image"],
  [Object.assign(new Error("x"), { code: 9523 }), "upstream_failed"],
  [Object.assign(new Error("x"), { code: 9401 }), "upstream_unavailable"],
  [new Error("x"), "upstream_unavailable"],
  ["x", "upstream_unavailable"],
  [new AppError("source_missing", "x"), "source_missing"],
])("the error %s of the Images binding becomes %s", (cause, code) => {
  expect(toImageError(cause)).toMatchObject({ code });
});
