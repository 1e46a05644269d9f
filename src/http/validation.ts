import { LIMITS } from "../config.ts";
import { invalid, type ValidationIssue, AppError, ValidationError } from "../errors.ts";
import { parseJsonText } from "../json-parse.ts";
import { append } from "../lists.ts";
import { isObject } from "../user-metadata.ts";
import type { Context } from "./context.ts";
import { MESSAGES, toParsingError, toPydanticError } from "./pydantic-errors.ts";
import * as z from "./zod.ts";

/** A part of a request. A form is its body, in which all fields are texts or files. */
type RequestPart = "path" | "query" | "header" | "body" | "form";
type Loc = (string | number)[];

/**
 * Validates one part of a request. Adds at most `LIMITS.issueCount` issues in pydantic's format,
 * one per location. Null for an optional field is the same as leaving it out. Rejects strings that
 * a store would change, with a lone surrogate or a NUL; only in `query` these are replaced. Texts
 * of a query string or a form are converted to what `schema` expects. Returns undefined if there is
 * any issue.
 */
export function validate<Schema extends z.ZodType>(
  part: RequestPart,
  schema: Schema,
  input: unknown,
  issues: ValidationIssue[],
): z.output<Schema> | undefined {
  const isText = (part === "query" || part === "form") && schema instanceof z.ZodObject;
  const sent = isText ? convertTexts(schema, input as Record<string, unknown>) : input;
  const value = dropNulls(schema, sanitizeQuery(sent));
  const reported: ValidationIssue[] = [];
  for (const issue of textIssues(pickKnownFields(schema, value), [
    part === "form" ? "body" : part,
  ])) {
    if (reported.push(issue) === LIMITS.issueCount) break;
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const reportedLocs = new Set(reported.map(locKey));
    const zodIssues = parsed.error.issues
      .flatMap(expandUnion)
      .toSorted((a, b) => isImplicitIntegerLimit(a) - isImplicitIntegerLimit(b));
    for (const issue of zodIssues.map((zodIssue) => toIssue(zodIssue, part, value))) {
      if (reportedLocs.has(locKey(issue))) continue;
      reportedLocs.add(locKey(issue));
      reported.push(issue);
    }
  }
  append(issues, reported.slice(0, LIMITS.issueCount));
  return parsed.success && reported.length === 0 ? parsed.data : undefined;
}

/** Parses a JSON text. Throws `ValidationError` with the byte offset of the first error. */
export function parseJson(
  source: string | Uint8Array,
  loc: Loc = ["body"],
  maxValues?: number,
): unknown {
  const parsed = parseJsonText(source, maxValues);
  if ("value" in parsed) return parsed.value;
  const { byteOffset, reason } = parsed;
  const errorLoc = loc.length === 1 ? [...loc, byteOffset] : loc;
  throw invalid(errorLoc, "json_invalid", `JSON decode error at byte ${byteOffset}: ${reason}`);
}

/** Schema of an integer in a request. Reports pydantic's `int_type` for every other value. */
export function strictInt(): z.ZodInt {
  return z.int({ error: ({ input }) => (input === undefined ? undefined : MESSAGES.int_type) });
}

/**
 * Replaces an issue of a union by those of the option that has the type of the value, or else of
 * the last option.
 */
function expandUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const isOfOtherType = ({ code, path }: z.core.$ZodIssue) =>
    code === "invalid_type" && path.length === 0;
  const fitting = issue.errors.find((errors) => !errors.some(isOfOtherType));
  return (fitting ?? issue.errors.at(-1)!).flatMap((inner) => {
    return expandUnion({ ...inner, path: [...issue.path, ...inner.path] });
  });
}

/** Sorts zod's implicit limit of 2^53 last, so that a field's own maximum is reported instead. */
function isImplicitIntegerLimit(issue: z.core.$ZodIssue): number {
  return issue.code === "too_big" && issue.maximum === Number.MAX_SAFE_INTEGER ? 1 : 0;
}

function toIssue(issue: z.core.$ZodIssue, part: RequestPart, value: unknown): ValidationIssue {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const error = toPydanticError(issue, path.reduce<unknown>(getProperty, value));
  if (part !== "query" && part !== "form") return { loc: [part, ...path], ...error };
  return { loc: [part === "query" ? part : "body", ...path], ...toParsingError(error) };
}

/** Replaces lone surrogates and NULs in `query`: a search accepts any text. */
function sanitizeQuery(value: unknown): unknown {
  if (!isObject(value) || typeof value["query"] !== "string") return value;
  return { ...value, query: value["query"].toWellFormed().replaceAll("\0", " ") };
}

/**
 * Drops fields of null that are optional and have no use for null, also in nested objects and in
 * lists of objects.
 */
function dropNulls(schema: z.ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => dropNulls(inner.element as z.ZodType, item));
  }
  if (inner instanceof z.ZodUnion && isObject(value)) {
    const options = inner.options as z.ZodType[];
    return dropNulls(options.find((option) => option instanceof z.ZodObject) ?? inner, value);
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([name, item]) => {
    const field = fieldSchema(inner, name);
    if (field && item === null && isOptionalOnly(field)) return [];
    return [[name, field ? dropNulls(field, item) : item] as const];
  });
  return Object.fromEntries(fields);
}

/** Whether a field may be left out, but not be null. */
function isOptionalOnly(field: z.ZodType): boolean {
  return field.safeParse(undefined).success && !field.safeParse(null).success;
}

/** Drops unknown fields, which may hold anything. */
function pickKnownFields(schema: z.ZodType, value: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => fieldSchema(schema, name)));
}

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
function convertTexts(object: z.ZodObject, texts: Record<string, unknown>) {
  const fields = Object.entries(texts).map(([name, value]) => {
    const schema = fieldSchema(object, name);
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

/** Returns the schema of a field of an object; undefined for a name that it lacks. */
export function fieldSchema(schema: z.ZodObject | undefined, name: string): z.ZodType | undefined {
  return schema && Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
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

/** Yields the strings that a store would change. `loc` is that of `value`. */
function* textIssues(value: unknown, loc: Loc): Generator<ValidationIssue, void> {
  if (typeof value === "string") yield* textIssue(value, loc);
  if (typeof value !== "object" || value === null) return;
  const isList = Array.isArray(value);
  for (const name of Object.keys(value)) {
    const item: unknown = Reflect.get(value, name);
    const isPlain = (typeof item !== "object" || item === null) && typeof item !== "string";
    if (isPlain && isList) continue;
    loc.push(isList ? Number(name) : name); // one list for all locations: a copy each takes long
    const issue = isList ? undefined : textIssue(name, loc).next().value;
    if (issue) yield issue;
    else if (!isPlain) yield* textIssues(item, loc);
    loc.pop();
  }
}

function* textIssue(text: string, loc: Loc): Generator<ValidationIssue, void> {
  if (!text.isWellFormed()) {
    yield { loc: [...loc], type: "string_unicode", msg: MESSAGES.string_unicode };
  } else if (text.includes("\0")) {
    yield { loc: [...loc], type: "value_error", msg: "A string can't contain U+0000" };
  }
}

/** Key of a location. Only the first issue of a location is reported, as pydantic does. */
function locKey({ loc }: ValidationIssue): string {
  return JSON.stringify(loc);
}

function getProperty(value: unknown, key: string | number): unknown {
  if (typeof value === "string") {
    const parsed = parseJsonText(value); // a field of JSON text
    return "value" in parsed ? getProperty(parsed.value, key) : undefined;
  }
  return (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

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
    const type = c.req.header("content-type");
    const isForm = type?.startsWith("multipart/") && c.req.path.endsWith("/search");
    const hint = isForm ? SEARCH_FORM : isJsonType(type) ? "" : SEND_JSON;
    for (const { loc, msg, type } of error.issues) issues.push({ loc, msg: msg + hint, type });
    return undefined;
  }
}

const SEARCH_FORM = ". A search takes JSON; send a file as a form to search_image or search_video";
/** Hint for a body that isn't a JSON object and wasn't declared as JSON. */
const SEND_JSON = ". Send a JSON object, with the header Content-Type: application/json";

function isJsonType(type = "application/json"): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(type);
}
