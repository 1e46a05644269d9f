import type { z } from "@hono/zod-openapi";
import type { ValidationIssue } from "../errors.ts";
import { isObject } from "../user-metadata.ts";
import type { Context } from "./context.ts";
import { listTag, tagCursor, untagCursor } from "./pagination.ts";
import { isRepeatable } from "./query-params.ts";

/**
 * Reads the query string. Adds an issue for a parameter that is given more often than its schema
 * allows, and for a part of `form` that is given here; leaves out the former. A cursor of another
 * list becomes the empty string, which no cursor's schema accepts.
 */
export function readQuery(
  c: Context,
  schema: z.ZodObject,
  form: z.ZodObject | undefined,
  issues: ValidationIssue[],
): Record<string, unknown> {
  const addIssue = (name: string, type: string, msg: string) =>
    issues.push({ loc: ["query", name], type, msg });
  const query: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(c.req.queries())) {
    const isKnown = Object.hasOwn(schema.shape, name);
    if (!isKnown && form && Object.hasOwn(form.shape, name)) {
      addIssue(name, "value_error", `Value error, send ${name} as a part of the form`);
    } else if (values.length === 1) query[name] = values[0];
    else if (!isKnown || isRepeatable(schema.shape[name])) query[name] = values;
    else {
      const msg = `Value error, ${name} is given ${values.length} times: give it once`;
      addIssue(name, "value_error", msg);
    }
  }
  if (typeof query["cursor"] === "string" && "cursor" in schema.shape) {
    query["cursor"] = untagCursor(query["cursor"], requestTag(c, schema));
  }
  return query;
}

/** Ties the `next_cursor` of a list to the request, if its schema has a cursor. */
export function tagNextCursor(
  c: Context,
  schema: z.ZodObject | undefined,
  result: unknown,
): unknown {
  if (!schema || !("cursor" in schema.shape) || !isObject(result)) return result;
  const { next_cursor: cursor } = result;
  if (typeof cursor !== "string") return result;
  return { ...result, next_cursor: tagCursor(cursor, requestTag(c, schema)) };
}

function requestTag(c: Context, { shape }: z.ZodObject): string {
  const known = Object.entries(c.req.queries()).filter(([name]) => Object.hasOwn(shape, name));
  return listTag(c.req.path, Object.fromEntries(known));
}
