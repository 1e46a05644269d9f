import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import type { Page, PageRequest } from "../store/sql.ts";
import { queryInt } from "./query-params.ts";

/** Issue of a cursor that the API didn't issue. */
export const INVALID_CURSOR = {
  message: "The cursor is invalid: pass the next_cursor of the previous page",
  params: { type: "value_error" },
};

export const DEFAULT_PAGE_SIZE = 50;

/** Query parameters `limit` and `cursor`, shared by every list. */
export const pageQuery = z.object({
  limit: queryInt(1, LIMITS.pageSize, DEFAULT_PAGE_SIZE),
  cursor: z.string().refine(isCursor, INVALID_CURSOR).optional(),
});

/** Response schema of every list: `{<name>: […], total, next_cursor}`. */
export function pageOf<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return z.object({
    ...({ [name]: z.array(item) } as { [key in Name]: z.ZodArray<Item> }),
    total: z.int(),
    next_cursor: z.string().nullable(),
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
