import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, ValidationError, type ValidationIssue } from "../errors.ts";
import { readForm } from "./form.ts";
import { check } from "./validation.ts";

/** Stands for a file among the fields of a form. */
const FILE = Symbol("a file");

/** A file part of a form's schema. */
export function formFile() {
  return z
    .custom<typeof FILE>((value) => value === FILE, "Expected a file, got text: name a filename")
    .openapi({ type: "string", format: "binary" });
}

/** A part that may be a file or text. */
export function formFileOrText() {
  return z
    .custom<typeof FILE | string>((value) => value === FILE || typeof value === "string")
    .openapi({ type: "string", format: "binary" });
}

/** The plain fields of a form as its schema has them. Throws `ValidationError`, for files that aren't there, too. */
export function requireFields<Form extends z.ZodObject>(
  form: Form,
  fields: Map<string, string>,
  files: readonly string[],
): z.output<Form> {
  const issues: ValidationIssue[] = [];
  const isFile = (name: string) => form.shape[name]?.safeParse(FILE).success ?? false;
  const named = files.filter(isFile).map((name) => [name, FILE]);
  const values = { ...Object.fromEntries(fields), ...Object.fromEntries(named) };
  const read = check("body", form, values, issues);
  if (!read) throw new ValidationError(issues);
  return read;
}

/**
 * What is wrong with the form of a request that is refused anyway: nothing where it is so large that the answer
 * would have to wait for it, or can't be read.
 */
export async function formIssues(request: Request, form: z.ZodObject): Promise<ValidationIssue[]> {
  const size = Number(request.headers.get("content-length") ?? Infinity);
  if (size > LIMITS.jsonBytes) return [];
  const files: string[] = [];
  try {
    requireFields(
      form,
      await readForm(request, async ({ field }) => void files.push(field)),
      files,
    );
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    if (error instanceof AppError) return [];
    throw error;
  }
}
