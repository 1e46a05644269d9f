import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { isObject } from "../user-metadata.ts";
import type { Context } from "./context.ts";
import { MESSAGES } from "./pydantic-errors.ts";
import { parseJson } from "./validation.ts";

/** Reads the body. Throws `too_large` once it exceeds `maxBytes`, without reading the rest. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new AppError("too_large", `The body is larger than the limit of ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Parses a body as JSON, whatever its content type. Adds an issue and returns undefined unless it
 * is an object.
 */
export function readJsonBody(
  c: Context,
  bytes: Uint8Array,
  isOptional: boolean,
  issues: ValidationIssue[],
) {
  try {
    if (bytes.length === 0) {
      if (isOptional) return { value: {} };
      throw invalid(["body"], "missing", "Field required");
    }
    const value = parseJson(bytes);
    if (!isObject(value)) throw invalid(["body"], "dict_type", MESSAGES.dict_type);
    return { value };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const hint = isJsonType(c.req.header("content-type")) ? "" : SEND_JSON;
    for (const { loc, msg, type } of error.issues) issues.push({ loc, msg: msg + hint, type });
    return undefined;
  }
}

/** Hint for a body that isn't a JSON object and wasn't declared as JSON. */
const SEND_JSON = ". Send a JSON object, with the header Content-Type: application/json";

function isJsonType(type = "application/json"): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(type);
}
