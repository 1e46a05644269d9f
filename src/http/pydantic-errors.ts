import type * as z from "./zod.ts";

/** Type of a validation error, by pydantic's name, and its message. */
interface PydanticError {
  type: string;
  msg: string;
}

/** Messages of the error types whose message never varies. */
export const MESSAGES = {
  missing: "Field required",
  string_type: "Input should be a valid string",
  string_unicode: "Input should be a valid string, in Unicode",
  int_type: "Input should be a valid integer",
  int_parsing: "Input should be a valid integer, unable to parse string as an integer",
  float_type: "Input should be a valid number",
  float_parsing: "Input should be a valid number, unable to parse string as a number",
  bool_type: "Input should be a valid boolean",
  bool_parsing: "Input should be a valid boolean, unable to interpret input",
  list_type: "Input should be a list",
  dict_type: "Input should be an object",
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
    case "too_big":
      return boundError(issue, value);
    case "invalid_format":
      return formatError(issue);
    case "custom":
      if (issue.params?.["type"] === "missing") return { type: "missing", msg: issue.message };
      if (isMissing) return standardError("missing");
      return customError(String(issue.params?.["type"] ?? "value_error"), issue.message);
    default:
      return customError("value_error", issue.message);
  }
}

/** Converts the error of a text that should be a number or a boolean. */
export function toParsingError(error: PydanticError): PydanticError {
  const type = error.type.replace(/^(int|float|bool)_type$/, "$1_parsing");
  return type === error.type ? error : standardError(type as keyof typeof MESSAGES);
}

/** Converts an issue of a custom rule. Uses pydantic's message if it has one for the type. */
function customError(type: string, message: string): PydanticError {
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

function boundError(
  issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  value: unknown,
): PydanticError {
  const isMin = issue.code === "too_small";
  const bound = Number(isMin ? issue.minimum : issue.maximum);
  const limit = (noun: string) =>
    `at ${isMin ? "least" : "most"} ${bound} ${noun}${bound === 1 ? "" : "s"}`;
  if (issue.origin === "string") {
    const type = isMin ? "string_too_short" : "string_too_long";
    return { type, msg: `String should have ${limit("character")}` };
  }
  if (issue.origin === "array") {
    const count = Array.isArray(value) ? value.length : 1;
    const msg = `List should have ${limit("item")}, not ${count}`;
    return { type: isMin ? "too_short" : "too_long", msg };
  }
  if (isMin && issue.inclusive === false) {
    return { type: "greater_than", msg: `Input should be greater than ${bound}` };
  }
  const comparison = isMin ? "greater" : "less";
  return {
    type: `${comparison}_than_equal`,
    msg: `Input should be ${comparison} than or equal to ${bound}`,
  };
}

/** Converts the issue of a format. The message of a pattern says in words what it asks for. */
function formatError({ format, message }: z.core.$ZodIssueInvalidStringFormat): PydanticError {
  if (format === "regex") {
    return { type: "string_pattern_mismatch", msg: `String should be ${message}` };
  }
  if (format === "url") {
    const msg = "Input should be a valid URL, with http:// or https:// at its beginning";
    return { type: "url_parsing", msg };
  }
  if (format === "email") return { type: "value_error", msg: "value is not a valid email address" };
  const isTime = format === "datetime";
  const kind = isTime ? "time with its zone, such as 2027-01-31T12:00:00Z" : format;
  return customError("value_error", `it is not a valid ${kind}`);
}
