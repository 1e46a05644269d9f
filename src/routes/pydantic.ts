import type { z } from "@hono/zod-openapi";

/** What pydantic v2 calls a broken rule, and how it words it. */
export interface Wording {
  type: string;
  msg: string;
}

/** Of every type that always says the same. */
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

const TYPES: Record<string, keyof typeof MESSAGES> = {
  string: "string_type",
  int: "int_type",
  number: "float_type",
  boolean: "bool_type",
  array: "list_type",
  object: "dict_type",
  record: "dict_type",
};

/** A zod issue in pydantic's words; `value` is what broke the rule, undefined where it is missing. */
export function wordingOf(issue: z.core.$ZodIssue, value: unknown): Wording {
  const isMissing = value === undefined;
  switch (issue.code) {
    case "invalid_type":
      if (isMissing) return standard("missing");
      if (issue.message === MESSAGES.int_type) return standard("int_type");
      return standard(TYPES[issue.expected] ?? "dict_type");
    case "invalid_value":
      return isMissing ? standard("missing") : literal(issue.values);
    case "too_small":
      return tooSmall(issue.origin, Number(issue.minimum), value);
    case "too_big":
      return tooBig(issue.origin, Number(issue.maximum), value);
    case "invalid_format":
      return malformed(issue);
    case "custom":
      if (isMissing) return standard("missing");
      return custom(String(issue.params?.["type"] ?? "value_error"), issue.message);
    default:
      return custom("value_error", issue.message);
  }
}

/** A rule of ours: pydantic's words where it has some for the type. */
function custom(type: string, message: string): Wording {
  if (type === "value_error") return { type, msg: `Value error, ${message}` };
  return type in MESSAGES ? standard(type as keyof typeof MESSAGES) : { type, msg: message };
}

function standard(type: keyof typeof MESSAGES): Wording {
  return { type, msg: MESSAGES[type] };
}

function literal(values: readonly unknown[]): Wording {
  const names = values.map((value) => `'${String(value)}'`);
  const last = names.pop()!;
  const expected = names.length > 0 ? `${names.join(", ")} or ${last}` : last;
  return { type: "literal_error", msg: `Input should be ${expected}` };
}

function tooSmall(origin: string, least: number, value: unknown): Wording {
  if (origin === "string") {
    const msg = `String should have at least ${counted(least, "character")}`;
    return { type: "string_too_short", msg };
  }
  if (origin === "array") {
    const msg = `List should have at least ${counted(least, "item")} after validation, not ${lengthOf(value)}`;
    return { type: "too_short", msg };
  }
  return { type: "greater_than_equal", msg: `Input should be greater than or equal to ${least}` };
}

function tooBig(origin: string, most: number, value: unknown): Wording {
  if (origin === "string") {
    const msg = `String should have at most ${counted(most, "character")}`;
    return { type: "string_too_long", msg };
  }
  if (origin === "array") {
    const msg = `List should have at most ${counted(most, "item")} after validation, not ${lengthOf(value)}`;
    return { type: "too_long", msg };
  }
  return { type: "less_than_equal", msg: `Input should be less than or equal to ${most}` };
}

function malformed({ format, pattern }: { format: string; pattern?: string | undefined }): Wording {
  if (format === "regex") {
    const source = (pattern ?? "").replace(/^\/(.*)\/\w*$/s, "$1");
    return { type: "string_pattern_mismatch", msg: `String should match pattern '${source}'` };
  }
  if (format === "url") {
    const msg = "Input should be a valid URL, with http:// or https:// at its beginning";
    return { type: "url_parsing", msg };
  }
  if (format === "email") return { type: "value_error", msg: "value is not a valid email address" };
  return custom("value_error", `it is not a valid ${format}`);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}
