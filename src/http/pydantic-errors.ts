import type { z } from "@hono/zod-openapi";

/** Type and message of a validation error, as pydantic v2 reports it. */
export interface PydanticError {
  type: string;
  msg: string;
}

/** Messages of the error types whose message never varies. */
export const MESSAGES = {
  missing: "Field required",
  string_type: "Input should be a valid string",
  string_unicode: "Input should be a valid string, unable to parse raw data as a unicode string",
  int_type: "Input should be a valid integer",
  int_parsing: "Input should be a valid integer, unable to parse string as an integer",
  float_type: "Input should be a valid number",
  float_parsing: "Input should be a valid number, unable to parse string as a number",
  bool_type: "Input should be a valid boolean",
  bool_parsing: "Input should be a valid boolean, unable to interpret input",
  list_type: "Input should be a valid list",
  dict_type: "Input should be a valid dictionary",
} as const;

const TYPE_ERRORS: Record<string, keyof typeof MESSAGES> = {
  string: "string_type",
  int: "int_type",
  number: "float_type",
  boolean: "bool_type",
  array: "list_type",
  object: "dict_type",
  record: "dict_type",
};

/** Converts a zod issue. `value` is the invalid value, undefined for a missing field. */
export function toPydanticError(issue: z.core.$ZodIssue, value: unknown): PydanticError {
  const isMissing = value === undefined;
  switch (issue.code) {
    case "invalid_type":
      if (isMissing) return standardError("missing");
      if (issue.message === MESSAGES.int_type) return standardError("int_type");
      return standardError(TYPE_ERRORS[issue.expected] ?? "dict_type");
    case "invalid_value":
      return isMissing ? standardError("missing") : literalError(issue.values);
    case "too_small":
      return tooSmall(issue, value);
    case "too_big":
      return tooBig(issue.origin, Number(issue.maximum), value);
    case "invalid_format":
      return formatError(issue);
    case "custom":
      if (isMissing) return standardError("missing");
      return customError(String(issue.params?.["type"] ?? "value_error"), issue.message);
    default:
      return customError("value_error", issue.message);
  }
}

/** Converts an issue of a custom rule. Uses pydantic's message if it has one for the type. */
function customError(type: string, message: string): PydanticError {
  if (type === "value_error") return { type, msg: `Value error, ${message}` };
  return type in MESSAGES ? standardError(type as keyof typeof MESSAGES) : { type, msg: message };
}

function standardError(type: keyof typeof MESSAGES): PydanticError {
  return { type, msg: MESSAGES[type] };
}

function literalError(values: readonly unknown[]): PydanticError {
  const names = values.map((value) => `'${String(value)}'`);
  const last = names.pop()!;
  const expected = names.length > 0 ? `${names.join(", ")} or ${last}` : last;
  return { type: "literal_error", msg: `Input should be ${expected}` };
}

function tooSmall(
  { origin, minimum, inclusive }: z.core.$ZodIssueTooSmall,
  value: unknown,
): PydanticError {
  const min = Number(minimum);
  if (origin === "string") {
    const msg = `String should have at least ${formatCount(min, "character")}`;
    return { type: "string_too_short", msg };
  }
  if (origin === "array") {
    const bound = `at least ${formatCount(min, "item")}`;
    return { type: "too_short", msg: listMessage(bound, value) };
  }
  if (inclusive === false) {
    return { type: "greater_than", msg: `Input should be greater than ${min}` };
  }
  return { type: "greater_than_equal", msg: `Input should be greater than or equal to ${min}` };
}

function tooBig(origin: string, max: number, value: unknown): PydanticError {
  if (origin === "string") {
    const msg = `String should have at most ${formatCount(max, "character")}`;
    return { type: "string_too_long", msg };
  }
  if (origin === "array") {
    const bound = `at most ${formatCount(max, "item")}`;
    return { type: "too_long", msg: listMessage(bound, value) };
  }
  return { type: "less_than_equal", msg: `Input should be less than or equal to ${max}` };
}

function listMessage(bound: string, value: unknown): string {
  return `List should have ${bound} after validation, not ${itemCount(value)}`;
}

function formatError({
  format,
  pattern,
}: {
  format: string;
  pattern?: string | undefined;
}): PydanticError {
  if (format === "regex") {
    const source = (pattern ?? "").replace(/^\/(.*)\/\w*$/s, "$1");
    return { type: "string_pattern_mismatch", msg: `String should match pattern '${source}'` };
  }
  if (format === "url") {
    const msg = "Input should be a valid URL, with http:// or https:// at its beginning";
    return { type: "url_parsing", msg };
  }
  if (format === "email") return { type: "value_error", msg: "value is not a valid email address" };
  return customError("value_error", `it is not a valid ${format}`);
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function itemCount(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}
