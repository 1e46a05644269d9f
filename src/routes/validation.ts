import { parseTree, type ParseError } from "jsonc-parser";
import { z } from "@hono/zod-openapi";
import { invalid, type ValidationIssue } from "../errors.ts";

type Part = "path" | "query" | "header" | "body";

/** Checks one part of a request; what breaks a rule is added to `issues`, in pydantic's words. */
export function check<Schema extends z.ZodType>(
  part: Part,
  schema: Schema,
  value: unknown,
  issues: ValidationIssue[],
): z.output<Schema> | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  issues.push(...parsed.error.issues.map((issue) => toIssue(issue, part, value)));
  return undefined;
}

/** The value of a JSON text. Throws `ValidationError` with the byte at which it stops being JSON. */
export function parseJson(text: string, loc: (string | number)[] = ["body"]): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    const characters = errors[0]?.offset ?? text.length;
    const offset = new TextEncoder().encode(text.slice(0, characters)).length;
    const at = loc.length === 1 ? [...loc, offset] : loc;
    throw invalid(at, "json_invalid", `JSON decode error at byte ${offset}`);
  }
}

function toIssue(issue: z.core.$ZodIssue, part: Part, value: unknown): ValidationIssue {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const type = typeOf(issue, path.reduce<unknown>(propertyOf, value) === undefined);
  const msg = type === "missing" ? "Field required" : issue.message;
  return { loc: [part, ...path], msg, type };
}

/** Zod tells a text where a whole number belongs from a fraction, but not from where any number does. */
const NOT_INT = "Input should be a valid integer";

/** A whole number in a JSON body. */
export function bodyInt(): z.ZodInt {
  return z.int({ error: ({ input }) => (input === undefined ? undefined : NOT_INT) });
}

function typeOf(issue: z.core.$ZodIssue, isMissing: boolean): string {
  switch (issue.code) {
    case "invalid_type":
      if (isMissing) return "missing";
      return issue.message === NOT_INT ? "int_type" : (TYPES[issue.expected] ?? "value_error");
    case "too_small":
      return TOO_SMALL[issue.origin] ?? "greater_than_equal";
    case "too_big":
      return TOO_BIG[issue.origin] ?? "less_than_equal";
    case "invalid_format":
      return FORMATS[issue.format] ?? "value_error";
    case "invalid_value":
      return isMissing ? "missing" : "literal_error";
    case "custom":
      return String(issue.params?.["type"] ?? "value_error");
    default:
      return "value_error";
  }
}

const TYPES: Record<string, string> = {
  string: "string_type",
  int: "int_type",
  number: "float_type",
  boolean: "bool_type",
  array: "list_type",
  object: "dict_type",
  record: "dict_type",
};
const TOO_SMALL: Record<string, string> = { string: "string_too_short", array: "too_short" };
const TOO_BIG: Record<string, string> = { string: "string_too_long", array: "too_long" };
const FORMATS: Record<string, string> = { regex: "string_pattern_mismatch", url: "url_parsing" };

function propertyOf(value: unknown, key: string | number): unknown {
  if (typeof value === "string" && key === 0) return value; // a list of one, in a query
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
