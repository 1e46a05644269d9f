import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../types.ts";
import { checkMetadata, isObject } from "../user-metadata.ts";

/** Schema of any JSON object. Unlike zod's record, it keeps a field named `__proto__`. */
export function anyObject() {
  return z
    .custom<JsonObject>(isObject, { params: { type: "dict_type" } })
    .describe("JSON object that the user attaches, at most 64 KiB.")
    .openapi({ type: "object", additionalProperties: {}, example: { year: 2026, camera: "A" } });
}

/** Schema of metadata that users attach to a record, and get back unchanged. */
export const userMetadata = anyObject().superRefine(checkMetadata);
