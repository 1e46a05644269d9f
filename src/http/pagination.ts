import { LIMITS } from "../config.ts";
import { invalid, type ValidationIssue } from "../errors.ts";
import { fingerprint } from "../fingerprint.ts";
import type { AccountId, IndexId } from "../ids.ts";
import type { Page, PageRequest } from "../store/sql.ts";
import { isObject } from "../user-metadata.ts";
import type { Context } from "./context.ts";
import { text } from "./fields.ts";
import { isRepeatable, fieldSchema, strictInt } from "./validation.ts";
import * as z from "./zod.ts";

/** Message about a cursor that the API didn't issue for this request. */
export const INVALID_CURSOR =
  "The cursor is invalid: pass the next_cursor of the previous page, with the same query and filters";

export const DEFAULT_PAGE_SIZE = 50;

/** Query parameters `limit` and `cursor`, shared by every list. */
export const pageQuery = z.object({
  limit: strictInt()
    .min(1)
    .max(LIMITS.pageSize)
    .default(DEFAULT_PAGE_SIZE)
    .describe("Items on a page."),
  cursor: z
    .string()
    .refine(isCursor, INVALID_CURSOR)
    .optional()
    .describe("`next_cursor` of the previous page."),
});

export const pageFields = {
  total: z.int().describe("Number of items on all pages.").openapi({ example: 1 }),
  next_cursor: text("`cursor` of the next page; null on the last one.", null).nullable(),
};

/** Response schema of every list: `{<name>: […], total, next_cursor}`. */
export function pageOf<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return z.object({
    ...({ [name]: z.array(item).describe("Items of the page.") } as {
      [key in Name]: z.ZodArray<Item>;
    }),
    ...pageFields,
  });
}

export function pageRequest(query: z.output<typeof pageQuery>): PageRequest {
  return {
    limit: query.limit,
    after: query.cursor === undefined ? "" : decodeCursor(query.cursor),
  };
}

export function nextCursor({ next }: Page<unknown>): string | null {
  return next === null ? null : encodeCursor(next);
}

/** Makes the response of a list, whose schema is `pageOf(name, …)`. */
export async function pageRecord<Name extends string, Row, Item>(
  name: Name,
  page: Page<Row>,
  toItem: (row: Row) => Item | Promise<Item>,
) {
  const items = { [name]: await Promise.all(page.items.map(toItem)) } as Record<Name, Item[]>;
  return { ...items, total: page.total, next_cursor: nextCursor(page) };
}

function isCursor(cursor: string): boolean {
  const id = decodeCursor(cursor);
  return /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}(?:_\d{10,15})?$/.test(id) && cursor === encodeCursor(id);
}

function decodeCursor(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function encodeCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

/**
 * Reads the query string. Leaves out a parameter that is given more often than its schema allows,
 * and adds an issue for it.
 */
export function readQuery(
  c: Context,
  schema: z.ZodObject,
  issues: ValidationIssue[],
): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(c.req.queries())) {
    const field = fieldSchema(schema, name);
    if (values.length === 1) query[name] = values[0];
    else if (!field || isRepeatable(field)) query[name] = values;
    else {
      const msg = `${name} is given ${values.length} times: give it once`;
      issues.push({ loc: ["query", name], type: "value_error", msg });
    }
  }
  if (typeof query["cursor"] === "string" && "cursor" in schema.shape) {
    query["cursor"] = readCursor(c, schema, query["cursor"]);
  }
  return query;
}

/** A cursor and the tag of its list. */
const TAGGED = /^(.+)\.([\w-]{8})$/;

/**
 * Returns a cursor without its tag; for that of another list the empty string, which no cursor's
 * schema accepts. The tag of an index's list is compared once the index is known.
 */
function readCursor(c: Context, schema: z.ZodObject, tagged: string): string {
  const [, cursor = "", tag] = TAGGED.exec(tagged) ?? [];
  const isTagOf = (owner: AccountId | IndexId) => tag === requestTag(c, schema, owner);
  if (c.req.param("index_name") === undefined) {
    return isTagOf(c.get("caller").accountId) ? cursor : "";
  }
  c.set("isCursorOf", isTagOf);
  return cursor;
}

/** Sets the index that a request reads. Throws a `ValidationError` for a cursor of another one. */
export function setIndex(c: Context, indexId: IndexId): void {
  c.set("indexId", indexId);
  const isCursorOf = c.get("isCursorOf");
  if (isCursorOf && !isCursorOf(indexId)) {
    throw invalid(["query", "cursor"], "value_error", INVALID_CURSOR);
  }
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
  const owner = c.get("indexId") ?? c.get("caller").accountId;
  return { ...result, next_cursor: `${cursor}.${requestTag(c, schema, owner)}` };
}

/** Parameters that may change from page to page. */
const PAGE_PARAMETERS = new Set(["cursor", "limit"]);

/** Returns the tag of the list that a request reads: whose it is, its path and its filters. */
function requestTag(c: Context, schema: z.ZodObject, owner: AccountId | IndexId): string {
  const filters = Object.entries(c.req.queries())
    .filter(([name]) => fieldSchema(schema, name) && !PAGE_PARAMETERS.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return fingerprint([owner, c.req.path, ...filters]);
}
