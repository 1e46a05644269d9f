import { z } from "@hono/zod-openapi";
import { readJsonText } from "./json-text.ts";

/** A whole number in a query string; nothing else is taken for one. */
export function queryInt(min: number, max: number, fallback: number) {
  return z
    .string()
    .transform((text, ctx) => {
      if (/^[+-]?\d{1,300}$/.test(text)) return Number(text);
      return reject(ctx, "int_parsing", "Input should be a valid integer");
    })
    .pipe(z.int().min(min).max(max))
    .optional()
    .transform((value) => value ?? fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback });
}

/** A number in a query string; nothing else is taken for one. */
export function queryFloat(min: number, max: number, fallback: number) {
  return z
    .string()
    .transform((text, ctx) => {
      const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
      if (isNumber && Number.isFinite(Number(text))) return Number(text);
      return reject(ctx, "float_parsing", "Input should be a valid number");
    })
    .pipe(z.number().min(min).max(max))
    .optional()
    .transform((value) => value ?? fallback)
    .openapi({ type: "number", minimum: min, maximum: max, default: fallback });
}

const TRUE = new Set(["true", "1", "yes", "on", "t", "y"]);
const FALSE = new Set(["false", "0", "no", "off", "f", "n"]);

export function queryBool(fallback: boolean) {
  return z
    .string()
    .transform((text, ctx) => {
      const word = text.toLowerCase();
      if (TRUE.has(word)) return true;
      if (FALSE.has(word)) return false;
      return reject(ctx, "bool_parsing", "Input should be a valid boolean");
    })
    .optional()
    .transform((value) => value ?? fallback)
    .openapi({ type: "boolean", default: fallback });
}

/** JSON of `schema` as text, in a query string or a form. */
export function jsonText<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .transform((text, ctx): unknown => {
      const read = readJsonText(text);
      if ("value" in read) return read.value;
      return reject(ctx, "json_invalid", `JSON decode error at byte ${read.byte}: ${read.why}`);
    })
    .pipe(schema)
    .openapi({ type: "string", format: "json", example: "{}" });
}

/** A parameter that may be repeated. */
export function queryList<Item extends z.ZodType<string>>(item: Item, max: number) {
  const list = (value: unknown) => (value === undefined ? value : [value].flat());
  return z.preprocess(list, z.array(item).max(max).optional());
}

function reject(ctx: z.RefinementCtx, type: string, message: string): never {
  ctx.addIssue({ code: "custom", params: { type }, message });
  return z.NEVER;
}
