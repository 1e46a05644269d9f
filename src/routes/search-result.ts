import { z } from "@hono/zod-openapi";
import type { Hit } from "../search/hits.ts";
import type { MediaUrlSigner } from "../http/signed-url.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";

export const searchResult = z
  .object({
    segments: z.array(hitRecord),
    total: z.int(),
    next_cursor: z.string().nullable(),
  })
  .openapi("SearchResult");

/**
 * Position of a page in the results. `readyBy` is the start of the search in epoch ms: later pages
 * leave out assets that became searchable after it.
 */
export interface CursorPosition {
  offset: number;
  readyBy: number;
}

/** `count` is the number of hits on the page before deleted ones were removed. */
export async function toSearchResult(
  hits: Hit[],
  { offset, readyBy, total, count }: CursorPosition & { total: number; count: number },
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof searchResult>> {
  const end = offset + count;
  return {
    segments: await Promise.all(hits.map((hit) => toHitRecord(hit, signUrl))),
    total,
    next_cursor: end < total ? toCursor({ offset: end, readyBy }) : null,
  };
}

const CURSOR = /^at:(\d{1,4}):(\d{13})$/;

/** Tests whether a cursor was issued by this API. */
export function isCursorPosition(cursor: string): boolean {
  return CURSOR.test(decode(cursor));
}

/** Parses a valid cursor. Without one, returns the first position of a new search. */
export function parseCursor(cursor: string | undefined): CursorPosition {
  const [, offset, readyBy] = CURSOR.exec(decode(cursor ?? "")) ?? [];
  if (offset === undefined) return { offset: 0, readyBy: Date.now() };
  return { offset: Number(offset), readyBy: Number(readyBy) };
}

function decode(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function toCursor({ offset, readyBy }: CursorPosition): string {
  return Buffer.from(`at:${offset}:${readyBy}`).toString("base64url");
}
