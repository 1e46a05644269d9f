import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, ValidationError, type ValidationIssue } from "../errors.ts";
import { readForm } from "./multipart.ts";
import { validate } from "./validation.ts";

/** Placeholder for a file part: its bytes are streamed, only its presence is validated. */
const FILE = Symbol("a file");

/** Schema of a file part. */
export function formFile() {
  return z
    .custom<typeof FILE>((value) => value === FILE, "Expected a file, got text: name a filename")
    .openapi({ type: "string", format: "binary" });
}

/** Schema of a part that may be a file or text. */
export function formFileOrText() {
  return z
    .custom<typeof FILE | string>((value) => value === FILE || typeof value === "string")
    .openapi({ type: "string", format: "binary" });
}

/**
 * Parses the text fields of a form. Throws `ValidationError` for these, for missing files, and for
 * parameters of `query` that are sent in the form.
 */
export function requireFields<Form extends z.ZodObject>(
  form: Form,
  fields: Map<string, string>,
  fileNames: readonly string[],
  query: z.ZodObject = z.object({}),
): z.output<Form> {
  const issues = misplacedParameters(form, fields, query);
  const isFile = (name: string) => form.shape[name]?.safeParse(FILE).success ?? false;
  const fileFields = fileNames.filter(isFile).map((name) => [name, FILE]);
  const values = { ...Object.fromEntries(fields), ...Object.fromEntries(fileFields) };
  const read = validate("body", form, values, issues);
  if (!read || issues.length > 0) throw new ValidationError(issues);
  return read;
}

function misplacedParameters(
  form: z.ZodObject,
  fields: Map<string, string>,
  query: z.ZodObject,
): ValidationIssue[] {
  const isMisplaced = (name: string) =>
    Object.hasOwn(query.shape, name) && !Object.hasOwn(form.shape, name);
  return [...fields.keys()].filter(isMisplaced).map((name) => ({
    loc: ["body", name],
    type: "value_error",
    msg: `Value error, send ${name} in the query string`,
  }));
}

/**
 * Collects the issues of a form whose request is already invalid. Returns none if the body is
 * larger than `LIMITS.jsonBytes`, because the response would wait for the upload, or if it is
 * malformed.
 */
export async function collectFormIssues(
  request: Request,
  form: z.ZodObject,
  query: z.ZodObject,
): Promise<ValidationIssue[]> {
  const size = Number(request.headers.get("content-length") ?? Infinity);
  if (size > LIMITS.jsonBytes) return [];
  const fileNames: string[] = [];
  try {
    requireFields(
      form,
      await readForm(request, async ({ field }) => void fileNames.push(field)),
      fileNames,
      query,
    );
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    if (error instanceof AppError) return [];
    throw error;
  }
}
