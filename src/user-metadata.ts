import * as z from "zod";
import { LIMITS } from "./config.ts";
import type { JsonObject } from "./types.ts";

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Schema of any JSON object. Unlike zod's record, it keeps a field named `__proto__`. */
export const plainObject = z.custom<JsonObject>(isObject, { params: { type: "dict_type" } });

/**
 * Adds issues for numbers that lose digits in a double, and for metadata over
 * `LIMITS.metadataBytes`: it is returned unchanged.
 */
export function checkMetadata(metadata: JsonObject, ctx: z.RefinementCtx<JsonObject>): void {
  const addIssue = (path: PropertyKey[], message: string) =>
    ctx.addIssue({ code: "custom", path, message, params: { type: "value_error" } });
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > LIMITS.metadataBytes) {
    const message = `the JSON has ${bytes} bytes, more than the limit of ${LIMITS.metadataBytes}`;
    return addIssue([], message); // walking all of it may take seconds
  }
  let issueCount = 0;
  for (const path of inexactNumbers(metadata)) {
    addIssue(path, "the number can't be stored exactly: send it as a string");
    if (++issueCount === LIMITS.issueCount) break;
  }
}

/** Yields the paths of numbers that JSON parsing may have rounded (RFC 8259, section 6). */
function* inexactNumbers(value: unknown, path: PropertyKey[] = []): Generator<PropertyKey[]> {
  if (typeof value === "number" && !isExact(value)) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    yield* inexactNumbers(item, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

/**
 * Tests whether a parsed number is surely the one in the JSON text. Integers past 2^53 may be
 * rounded; from 1e21 on they are printed with an exponent, and so don't claim exact digits.
 */
function isExact(value: number): boolean {
  if (!Number.isFinite(value)) return false;
  return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
}
