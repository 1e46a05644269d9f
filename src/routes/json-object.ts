import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import type { JsonObject } from "../types.ts";

/** Any JSON object, with all its names: zod's own record leaves out `__proto__`. */
export function anyObject() {
  return z
    .custom<JsonObject>(isObject, { params: { type: "dict_type" } })
    .openapi({ type: "object", additionalProperties: {} });
}

/** What people keep with a record, and get back as it came; what can't be kept so is refused. */
export const userMetadata = anyObject().superRefine((metadata, ctx) => {
  const refuse = (path: PropertyKey[], message: string) =>
    ctx.addIssue({ code: "custom", path, message, params: { type: "value_error" } });
  let told = 0;
  for (const path of inexactNumbers(metadata)) {
    refuse(path, "the number can't be kept exactly: send it as text");
    if (++told === LIMITS.issues) break;
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > LIMITS.metadataBytes) {
    refuse([], `it takes ${bytes} bytes of JSON, and may take ${LIMITS.metadataBytes}`);
  }
});

/** Where numbers are that came out of JSON as another (RFC 8259, section 6). */
function* inexactNumbers(value: unknown, path: PropertyKey[] = []): Generator<PropertyKey[]> {
  if (typeof value === "number" && !isExact(value)) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    yield* inexactNumbers(item, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

/** A whole number that is written with all its digits has to have them. */
function isExact(value: number): boolean {
  if (!Number.isFinite(value)) return false;
  return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
