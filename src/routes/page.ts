import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import type { Page, PageRequest } from "../store/rows.ts";
import { queryInt } from "./query-types.ts";

/** What is wrong with a cursor that we didn't give. */
export const NOT_OURS = {
  message: "The cursor is not one of ours",
  params: { type: "value_error" },
};

export const DEFAULT_PAGE_SIZE = 50;

/** `limit` and `cursor` of every list. */
export const pageQuery = z.object({
  limit: queryInt(1, LIMITS.pageSize, DEFAULT_PAGE_SIZE),
  cursor: z.string().refine(isCursor, NOT_OURS).optional(),
});

/** `{<name>: […], total, next_cursor}` of every list. */
export function pageOf<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return z.object({
    ...({ [name]: z.array(item) } as { [key in Name]: z.ZodArray<Item> }),
    total: z.int(),
    next_cursor: z.string().nullable(),
  });
}

export function pageRequest(query: z.output<typeof pageQuery>): PageRequest {
  return { limit: query.limit, after: query.cursor === undefined ? "" : decode(query.cursor) };
}

export function nextCursor({ next }: Page<unknown>): string | null {
  return next === null ? null : encode(next);
}

function isCursor(cursor: string): boolean {
  const id = decode(cursor);
  return /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/.test(id) && cursor === encode(id);
}

function decode(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function encode(id: string): string {
  return Buffer.from(id).toString("base64url");
}
