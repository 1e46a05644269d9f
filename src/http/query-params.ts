import { z } from "@hono/zod-openapi";
import { parseJsonText } from "../json-parse.ts";

/** Schema of an integer in a query string. Unlike `Number`, it rejects empty and hex strings. */
export function queryInt(min: number, max: number, defaultValue: number) {
  return z
    .string()
    .transform((text, ctx) => {
      if (/^[+-]?\d{1,300}$/.test(text)) return Number(text);
      return reject(ctx, "int_parsing", "Input should be a valid integer");
    })
    .pipe(z.int().min(min).max(max))
    .optional()
    .transform((value) => value ?? defaultValue)
    .openapi({ type: "integer", minimum: min, maximum: max, default: defaultValue });
}

/** Schema of a decimal number in a query string. Rejects empty, hex and infinite values. */
export function queryFloat(min: number, max: number, defaultValue: number) {
  return z
    .string()
    .transform((text, ctx) => {
      const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
      if (isNumber && Number.isFinite(Number(text))) return Number(text);
      return reject(ctx, "float_parsing", "Input should be a valid number");
    })
    .pipe(z.number().min(min).max(max))
    .optional()
    .transform((value) => value ?? defaultValue)
    .openapi({ type: "number", minimum: min, maximum: max, default: defaultValue });
}

const TRUE = new Set(["true", "1", "yes", "on", "t", "y"]);
const FALSE = new Set(["false", "0", "no", "off", "f", "n"]);

export function queryBool(defaultValue: boolean) {
  return z
    .string()
    .transform((text, ctx) => {
      const word = text.toLowerCase();
      if (TRUE.has(word)) return true;
      if (FALSE.has(word)) return false;
      return reject(ctx, "bool_parsing", "Input should be a valid boolean");
    })
    .optional()
    .transform((value) => value ?? defaultValue)
    .openapi({ type: "boolean", default: defaultValue });
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

const repeatable = new WeakSet<z.ZodType>();

const toList = (value: unknown) => (value === undefined ? value : [value].flat());

/** Schema of a parameter that may be repeated up to `max` times. */
export function queryList<Item extends z.ZodType<string>>(
  item: Item,
  max: number,
  description: string,
) {
  const schema = z.preprocess(toList, z.array(item).max(max).optional()).describe(description);
  repeatable.add(schema);
  return schema;
}

/** The same, for a parameter that has to be given at least once. */
export function requiredQueryList<Item extends z.ZodType<string>>(
  item: Item,
  max: number,
  description: string,
  example: string[],
) {
  const schema = z
    .preprocess(toList, z.array(item).max(max))
    .describe(description)
    .openapi({ example });
  repeatable.add(schema);
  return schema;
}

/** Whether a parameter may be given more than once: its schema is a `queryList`. */
export function isRepeatable(schema: z.ZodType | undefined): boolean {
  return schema !== undefined && repeatable.has(schema);
}

function reject(ctx: z.RefinementCtx, type: string, message: string): never {
  ctx.addIssue({ code: "custom", params: { type }, message });
  return z.NEVER;
}
