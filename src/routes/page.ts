import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { invalid } from "../errors.ts";
import type { Page, PageRequest } from "../store/rows.ts";
import { queryInt } from "./query-types.ts";

/** `limit` and `cursor` of every list. */
export const pageQuery = z.object({
  limit: queryInt(1, LIMITS.pageSize, 50),
  cursor: z.string().optional(),
});

/** `{<name>: […], total, next_cursor}` of every list. */
export function pageOf<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return z.object({
    ...({ [name]: z.array(item) } as { [key in Name]: z.ZodArray<Item> }),
    total: z.int(),
    next_cursor: z.string().nullable(),
  });
}

/** Throws a `ValidationError` for a cursor that we didn't give. */
export function pageRequest(query: z.output<typeof pageQuery>): PageRequest {
  return { limit: query.limit, after: query.cursor === undefined ? "" : decode(query.cursor) };
}

export function nextCursor({ next }: Page<unknown>): string | null {
  return next === null ? null : encode(next);
}

function decode(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (!/^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/.test(id) || cursor !== encode(id)) {
    throw invalid(["query", "cursor"], "value_error", "The cursor is not one of ours");
  }
  return id;
}

function encode(id: string): string {
  return Buffer.from(id).toString("base64url");
}
