import { parseJsonText } from "../json-parse.ts";
import * as z from "./zod.ts";

/** A whole number; no hex, and no exponent. */
const INTEGER = /^[+-]?\d{1,300}$/;
const DECIMAL = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "yes", "on", "t", "y"].map((word) => [word, true] as const),
  ...["false", "0", "no", "off", "f", "n"].map((word) => [word, false] as const),
]);

/**
 * Converts the texts of a query string or a form to the types of their fields, so that a field has
 * one schema there and in JSON. What can't be converted stays: the schema refuses it.
 */
export function convertTexts({ shape }: z.ZodObject, texts: Record<string, unknown>) {
  const fields = Object.entries(texts).map(([name, value]) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return [name, schema ? convertText(unwrap(schema), value) : value];
  });
  return Object.fromEntries(fields) as Record<string, unknown>;
}

function convertText(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodArray) return [value].flat();
  if (typeof value !== "string") return value;
  if (schema instanceof z.ZodBoolean) return BOOLEANS.get(value.toLowerCase()) ?? value;
  if (!(schema instanceof z.ZodNumber)) return value;
  const isNumber = (schema instanceof z.ZodNumberFormat ? INTEGER : DECIMAL).test(value);
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Whether a parameter may be given more than once: it is a list. */
export function isRepeatable(schema: z.ZodType): boolean {
  return unwrap(schema) instanceof z.ZodArray;
}

/** Returns the schema of a value that is there, and isn't null. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  ) {
    return unwrap(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? unwrap(schema.out) : schema;
}

/**
 * Schema of an optional JSON text in a query string or a form; `schema` validates its value. The
 * text `null` is the same as none.
 */
export function jsonText<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .transform((text, ctx): unknown => {
      const parsed = parseJsonText(text);
      if ("value" in parsed) return parsed.value ?? undefined;
      const message = `JSON decode error at byte ${parsed.byteOffset}: ${parsed.reason}`;
      return reject(ctx, "json_invalid", message);
    })
    .pipe(schema.optional())
    .optional()
    .openapi({ type: "string", format: "json" });
}

export function reject(ctx: z.RefinementCtx, type: string, message: string): never {
  ctx.addIssue({ code: "custom", params: { type }, message });
  return z.NEVER;
}
