import * as z from "zod";
import { imagesError } from "./engine-client.ts";

const MAX_PIXELS = 12_000;
const SIDES = new Set<unknown>(["left", "right", "top", "bottom", "center"]);
const FORMATS = new Set<unknown>(["image/jpeg", "image/png", "image/webp", "image/avif", "rgba"]);
const TRIMS = new Set(["left", "top", "right", "bottom", "width", "height", "border"]);
const FOREIGN_FORMATS = new Set<unknown>(["image/gif", "rgb"]);

const offset = z.int().min(0).max(MAX_PIXELS);
const length = z.int().min(1).max(MAX_PIXELS);
/** A `trim` with all four sides. Production's defaults for missing sides aren't known. */
export const trimmedArea = z.strictObject({
  left: offset,
  top: offset,
  width: length,
  height: length,
});

/** Returns `absent` for a valid value that neither the simulator nor the engine implements. */
type Check = (value: unknown, options: object) => boolean | "absent";

const isAbsent: Check = () => "absent";
const isPixels: Check = (value) =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_PIXELS;

/** Checks for every option that production has. */
const TRANSFORMS: Record<keyof ImageTransform, Check> = {
  width: isPixels,
  height: isPixels,
  fit: isOneOf("scale-down", "contain", "pad", "squeeze", "cover", "crop"),
  gravity: (value) => SIDES.has(value) || "absent",
  rotate: isOneOf(0, 90, 180, 270),
  segment: isOneOf("foreground"),
  background: (value, options) =>
    ("fit" in options && options.fit === "pad") || /^#[\da-f]{6}$/.test(String(value)) || "absent",
  blur: isAbsent,
  border: isAbsent,
  brightness: isAbsent,
  contrast: isAbsent,
  flip: isAbsent,
  gamma: isAbsent,
  saturation: isAbsent,
  sharpen: isAbsent,
  trim: isArea,
};
const OUTPUTS: Record<keyof ImageOutputOptions, Check> = {
  format: (value) => FORMATS.has(value) || (FOREIGN_FORMATS.has(value) && "absent"),
  anim: (value) => value === false || "absent",
  quality: isAbsent,
  background: isAbsent,
};

/** Throws 9432 for an option or value that production rejects, 9523 for one without a stand-in. */
export function checkTransform(transform: ImageTransform): void {
  check(TRANSFORMS, transform);
}

/** Throws the errors of `checkTransform` for output options. */
export function checkOutput(options: ImageOutputOptions): void {
  check(OUTPUTS, options);
}

function check(checks: Record<string, Check>, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const result = value === undefined || checks[name]?.(value, options);
    const option = `${name}: ${JSON.stringify(value)}`;
    if (result === "absent") throw imagesError(9523, `${option} has no local stand-in`);
    if (!result) throw imagesError(9432, `Bad request: invalid ${option}`);
  }
}

function isOneOf(...values: unknown[]): Check {
  return (value) => values.includes(value);
}

function isArea(value: unknown): boolean | "absent" {
  if (trimmedArea.safeParse(value).success) return true;
  if (value === "border") return "absent";
  const names = Object.keys(value ?? {});
  const isWhole = names.length === 4 && names.every((name) => name in trimmedArea.shape);
  return !isWhole && names.length > 0 && names.every((name) => TRIMS.has(name)) && "absent";
}
