import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { fingerprint } from "../fingerprint.ts";
import type { Page, PageRequest } from "../store/sql.ts";
import { queryInt } from "./query-params.ts";

/** Message about a cursor that the API didn't issue for this request. */
export const INVALID_CURSOR =
  "The cursor is invalid: pass the next_cursor of the previous page, with the same query and filters";

export const DEFAULT_PAGE_SIZE = 50;

/** Query parameters `limit` and `cursor`, shared by every list. */
export const pageQuery = z.object({
  limit: queryInt(1, LIMITS.pageSize, DEFAULT_PAGE_SIZE).describe("Items on a page."),
  cursor: z
    .string()
    .refine(isCursor, INVALID_CURSOR)
    .optional()
    .describe("`next_cursor` of the previous page. Without it, the first page is returned."),
});

/** Fields of every response that is a page. */
export const pageFields = {
  total: z.int().describe("Number of items on all pages.").openapi({ example: 1 }),
  next_cursor: z
    .string()
    .nullable()
    .describe("`cursor` of the next page; null on the last one.")
    .openapi({ example: null }),
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

/** Parameters that may change from page to page. */
const PAGE_PARAMETERS = new Set(["cursor", "limit"]);

/** Returns the tag of the list that a request reads: its path and its filters. */
export function listTag(path: string, query: Record<string, unknown>): string {
  const filters = Object.entries(query).filter(([name]) => !PAGE_PARAMETERS.has(name));
  return fingerprint([path, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Ties a cursor to the list that it continues. */
export function tagCursor(cursor: string, tag: string): string {
  return `${cursor}.${tag}`;
}

/** Returns the cursor of the list with `tag`; the empty string for that of another list. */
export function untagCursor(tagged: string, tag: string): string {
  return tagged.endsWith(`.${tag}`) ? tagged.slice(0, -tag.length - 1) : "";
}

function isCursor(cursor: string): boolean {
  const id = decodeCursor(cursor);
  return /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/.test(id) && cursor === encodeCursor(id);
}

function decodeCursor(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function encodeCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}
