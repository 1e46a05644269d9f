import { z } from "@hono/zod-openapi";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import type { JsonObject } from "../types.ts";
import { userMetadata } from "../http/json-object.ts";
import { validate, parseJson } from "../http/validation.ts";

const HEADER = "upload-metadata";

/** A key and its base64 value, which is optional. */
const PAIR =
  /^([\x21-\x2b\x2d-\x7e]+)(?: +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?))?$/;

export interface UploadMetadata {
  title: string | null;
  metadata: JsonObject;
}

/**
 * Parses tus's `Upload-Metadata` and reads the keys `filename` and `metadata_str` (JSON). Malformed
 * pairs and values are added to `issues`.
 */
export function readUploadMetadata(text: string, issues: ValidationIssue[]): UploadMetadata {
  const values = new Map<string, string>();
  for (const pair of text.split(",").map((part) => part.trim())) {
    if (pair === "") continue;
    const [, name, encoded = ""] = PAIR.exec(pair) ?? [];
    const value = name === undefined ? null : decode(encoded);
    if (name === undefined || value === null || values.has(name)) {
      const msg = "Value error, Each pair must be a unique key, a space and a UTF-8 text in base64";
      issues.push({ loc: ["header", HEADER], msg, type: "value_error" });
      return { title: null, metadata: {} };
    }
    values.set(name, value);
  }
  const filename = values.get("filename");
  const metadata = parse(values.get("metadata_str") || "{}", issues);
  const pairs = { [HEADER]: { filename, ...(metadata && { metadata_str: metadata.value }) } };
  const valid = validate("header", uploadMetadataSchema, pairs, issues)?.[HEADER];
  return { title: valid?.filename || null, metadata: valid?.metadata_str ?? {} };
}

const uploadMetadataSchema = z.object({
  [HEADER]: z.object({ filename: z.string().optional(), metadata_str: userMetadata.optional() }),
});

function parse(text: string, issues: ValidationIssue[]): { value: unknown } | undefined {
  try {
    return { value: parseJson(text, ["header", HEADER, "metadata_str"]) };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

function decode(encoded: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(encoded, "base64"),
    );
  } catch {
    return null;
  }
}
