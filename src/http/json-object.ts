import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import type { JsonObject } from "../types.ts";

/** Schema of any JSON object. Unlike zod's record, it keeps a field named `__proto__`. */
export function anyObject() {
  return z
    .custom<JsonObject>(isObject, { params: { type: "dict_type" } })
    .describe("JSON object that the user attaches, at most 64 KiB.")
    .openapi({ type: "object", additionalProperties: {}, example: { year: 2026, camera: "A" } });
}

/**
 * Schema of metadata that users attach to a record. Metadata is returned unchanged; numbers that
 * lose digits in a double and objects over `LIMITS.metadataBytes` are rejected.
 */
export const userMetadata = anyObject().superRefine((metadata, ctx) => {
  const addIssue = (path: PropertyKey[], message: string) =>
    ctx.addIssue({ code: "custom", path, message, params: { type: "value_error" } });
  let issueCount = 0;
  for (const path of inexactNumbers(metadata)) {
    addIssue(path, "the number can't be stored exactly: send it as a string");
    if (++issueCount === LIMITS.issueCount) break;
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > LIMITS.metadataBytes) {
    addIssue([], `the JSON has ${bytes} bytes, more than the limit of ${LIMITS.metadataBytes}`);
  }
});

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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
