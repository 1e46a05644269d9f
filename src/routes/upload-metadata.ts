import { z } from "@hono/zod-openapi";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import type { JsonObject } from "../types.ts";
import { userMetadata } from "./json-object.ts";
import { check, parseJson } from "./validation.ts";

const HEADER = "upload-metadata";

/** A name and, in base64, its value; the value may be left out. */
const PAIR =
  /^([\x21-\x2b\x2d-\x7e]+)(?: +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?))?$/;

export interface Described {
  title: string | null;
  metadata: JsonObject;
}

/**
 * What a client says of its file in `Upload-Metadata`: of its names, `filename` and `metadata_str` mean
 * something here. What is wrong is added to `issues`.
 */
export function readUploadMetadata(text: string, issues: ValidationIssue[]): Described {
  const values = new Map<string, string>();
  for (const pair of text.split(",").map((each) => each.trim())) {
    if (pair === "") continue;
    const [, name, encoded = ""] = PAIR.exec(pair) ?? [];
    const value = name === undefined ? null : decode(encoded);
    if (name === undefined || value === null || values.has(name)) {
      const msg = "Value error, Each is another name, a space, and UTF-8 in base64";
      issues.push({ loc: ["header", HEADER], msg, type: "value_error" });
      return { title: null, metadata: {} };
    }
    values.set(name, value);
  }
  const filename = values.get("filename");
  const metadata = parse(values.get("metadata_str") || "{}", issues);
  const said = { [HEADER]: { filename, ...(metadata && { metadata_str: metadata.value }) } };
  const read = check("header", known, said, issues)?.[HEADER];
  return { title: read?.filename || null, metadata: read?.metadata_str ?? {} };
}

const known = z.object({
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
