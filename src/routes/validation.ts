import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { invalid, type ValidationIssue } from "../errors.ts";
import { isObject } from "./json-object.ts";
import { readJsonText } from "./json-text.ts";
import { MESSAGES, wordingOf } from "./pydantic.ts";

type Part = "path" | "query" | "header" | "body";
type Loc = (string | number)[];

/**
 * Checks one part of a request; what breaks a rule is added to `issues`, in pydantic's words. No text that is
 * looked at may be one that a store would change: with half of a surrogate pair, or a NUL; but a question may
 * be anything. At most `LIMITS.issues` are told.
 */
export function check<Schema extends z.ZodType>(
  part: Part,
  schema: Schema,
  given: unknown,
  issues: ValidationIssue[],
): z.output<Schema> | undefined {
  const value = asAsked(given);
  const found = textIssues(known(schema, value), [part]);
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const told = new Set(found.map(placeOf));
    const broken = parsed.error.issues.toSorted((a, b) => isOfZod(a) - isOfZod(b));
    for (const issue of broken.map((one) => toIssue(one, part, value))) {
      if (told.has(placeOf(issue))) continue;
      told.add(placeOf(issue));
      found.push(issue);
    }
  }
  issues.push(...found.slice(0, LIMITS.issues));
  return parsed.success && found.length === 0 ? parsed.data : undefined;
}

/** The value of a JSON text. Throws `ValidationError` with the byte at which it stops being one. */
export function parseJson(source: string | Uint8Array, loc: Loc = ["body"]): unknown {
  const read = readJsonText(source);
  if ("value" in read) return read.value;
  const at = loc.length === 1 ? [...loc, read.byte] : loc;
  throw invalid(at, "json_invalid", `JSON decode error at byte ${read.byte}: ${read.why}`);
}

/** A whole number in a JSON body. Zod tells a text from a whole number, but not whether that has to be whole. */
export function bodyInt(): z.ZodInt {
  return z.int({ error: ({ input }) => (input === undefined ? undefined : MESSAGES.int_type) });
}

/** That a whole number be one of JavaScript's is a rule of zod's, which says nothing where a field has its own. */
function isOfZod(issue: z.core.$ZodIssue): number {
  return issue.code === "too_big" && issue.maximum === Number.MAX_SAFE_INTEGER ? 1 : 0;
}

function toIssue(issue: z.core.$ZodIssue, part: Part, value: unknown): ValidationIssue {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const { type, msg } = wordingOf(issue, path.reduce<unknown>(propertyOf, value));
  return { loc: [part, ...path], msg, type };
}

/** What is asked may be of any characters: those that no store holds as they are stand for nothing. */
function asAsked(value: unknown): unknown {
  if (!isObject(value) || typeof value["query"] !== "string") return value;
  return { ...value, query: value["query"].toWellFormed().replaceAll("\0", " ") };
}

/** Fields that nobody reads may hold anything. */
function known(schema: z.ZodType, value: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => Object.hasOwn(schema.shape, name)),
  );
}

function textIssues(value: unknown, loc: Loc): ValidationIssue[] {
  if (typeof value === "string") return textIssue(value, loc);
  if (Array.isArray(value)) return value.flatMap((item, i) => textIssues(item, [...loc, i]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const place = [...loc, name];
    const found = textIssue(name, place);
    return found.length > 0 ? found : textIssues(item, place);
  });
}

function textIssue(text: string, loc: Loc): ValidationIssue[] {
  if (!text.isWellFormed()) {
    return [{ loc, type: "string_unicode", msg: MESSAGES.string_unicode }];
  }
  if (!text.includes("\0")) return [];
  return [{ loc, type: "value_error", msg: "Value error, a text can't hold the character U+0000" }];
}

/** Of the rules that one value breaks the first is told, as pydantic does. */
function placeOf({ loc }: ValidationIssue): string {
  return JSON.stringify(loc);
}

function propertyOf(value: unknown, key: string | number): unknown {
  if (typeof value === "string" && key === 0) return value; // a list of one, in a query
  return (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}
