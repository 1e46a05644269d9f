import { EngineError } from "./errors.ts";
import type { Area } from "./image.ts";

const OFFSET = { min: 0, max: 100_000 };
const LENGTH = { min: 1, max: 100_000 };

export interface Range {
  min: number;
  max: number;
}

/** Reads a decimal number within `range`, by default `fallback`. Errors: `bad_request`. */
export function readNumber<T extends number | null>(
  query: URLSearchParams,
  name: string,
  range: Range,
  fallback: T,
): number | T {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new EngineError("bad_request", `"${name}" is a number from ${range.min} to ${range.max}.`);
}

/** Reads an integer within `range`, by default `fallback`. Errors: `bad_request`. */
export function readInteger<T extends number | null>(
  query: URLSearchParams,
  name: string,
  range: Range,
  fallback: T,
): number | T {
  const value = readNumber(query, name, range, fallback);
  if (value === null || Number.isInteger(value)) return value;
  throw new EngineError("bad_request", `"${name}" is a whole number.`);
}

/** Reads a colour, such as `#808080`. Errors: `bad_request`. */
export function readColour(query: URLSearchParams): string {
  const colour = query.get("background") ?? "";
  if (/^#[\da-f]{6}$/.test(colour)) return colour;
  throw new EngineError("bad_request", '"background" is a colour of six hexadecimal digits.');
}

/** Reads one of `choices`, by default the first. Errors: `bad_request`. */
export function readChoice<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const text = query.get(name);
  if (text === null) return choices[0];
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  throw new EngineError("bad_request", `"${name}" is one of ${choices.join(", ")}.`);
}

/** Reads a rectangle from `left`, `top`, `width` and `height`. Errors: `bad_request`. */
export function readArea(query: URLSearchParams): Area {
  const [left, top] = ["left", "top"].map((name) => readInteger(query, name, OFFSET, null));
  const [width, height] = ["width", "height"].map((name) => readInteger(query, name, LENGTH, null));
  if (left == null || top == null || width == null || height == null) {
    throw new EngineError("bad_request", 'An area is "left", "top", "width" and "height".');
  }
  return { left, top, width, height };
}
