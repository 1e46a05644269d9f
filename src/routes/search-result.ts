import { z } from "@hono/zod-openapi";
import type { Hit } from "../search/hits.ts";
import type { MediaUrl } from "./media-url.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";

export const searchResult = z
  .object({
    segments: z.array(hitRecord),
    total: z.int(),
    next_cursor: z.string().nullable(),
  })
  .openapi("SearchResult");

/** Where a page begins, and when its search did (epoch ms). */
export interface Place {
  offset: number;
  readyBy: number;
}

/** `count` is how many hits the page had when it was found; the total, where the search takes no cursor. */
export async function toSearchResult(
  hits: Hit[],
  { offset, readyBy, total, count }: Place & { total: number; count: number },
  urlOf: MediaUrl,
): Promise<z.input<typeof searchResult>> {
  const end = offset + count;
  return {
    segments: await Promise.all(hits.map((hit) => toHitRecord(hit, urlOf))),
    total,
    next_cursor: end < total ? toCursor({ offset: end, readyBy }) : null,
  };
}

const PLACE = /^at:(\d{1,4}):(\d{13})$/;

/** Whether a cursor is one of ours. */
export function isPlace(cursor: string): boolean {
  return PLACE.test(decode(cursor));
}

/** The place of a cursor that is ours; the first of a new search without one. */
export function placeOf(cursor: string | undefined): Place {
  const [, offset, readyBy] = PLACE.exec(decode(cursor ?? "")) ?? [];
  if (offset === undefined) return { offset: 0, readyBy: Date.now() };
  return { offset: Number(offset), readyBy: Number(readyBy) };
}

function decode(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function toCursor({ offset, readyBy }: Place): string {
  return Buffer.from(`at:${offset}:${readyBy}`).toString("base64url");
}
