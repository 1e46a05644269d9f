import { z } from "@hono/zod-openapi";
import { invalid } from "../errors.ts";
import { INVALID_CURSOR, pageFields } from "../http/pagination.ts";
import type { Hit } from "../search/hits.ts";
import type { MediaUrlSigner } from "../http/signed-url.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";

export const searchResult = z
  .object({
    segments: z.array(hitRecord).describe("Segments, best first. Empty while the job is queued."),
    ...pageFields,
    job_id: z
      .string()
      .optional()
      .describe("Id of the job, with `queue_job`: its `result` is that of the search."),
    state: z.literal("queued").optional().describe("State of the job, with `queue_job`."),
  })
  .openapi("SearchResult", { description: "Segments that match, and how many there are." });

/**
 * Position of a page in the results. `readyBy` is the start of the search in epoch ms: later pages
 * leave out assets that became searchable after it. `cursorTag` is that of the request.
 */
export interface CursorPosition {
  offset: number;
  readyBy: number;
  cursorTag: string;
}

/** `count` is the number of hits on the page before deleted ones were removed. */
export async function toSearchResult(
  hits: Hit[],
  { offset, readyBy, cursorTag, total, count }: CursorPosition & { total: number; count: number },
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof searchResult>> {
  const end = offset + count;
  return {
    segments: await Promise.all(hits.map((hit) => toHitRecord(hit, signUrl))),
    total,
    next_cursor: end < total ? toCursor({ offset: end, readyBy, cursorTag }) : null,
  };
}

const CURSOR = /^at:(\d{1,4}):(\d{13}):([\w-]+)$/;

/** Tests whether a cursor was issued by this API. */
export function isCursorPosition(cursor: string): boolean {
  return CURSOR.test(decode(cursor));
}

/**
 * Parses a valid cursor of the request with `cursorTag`. Without one, returns the first position of
 * a new search. Throws a `ValidationError` for a cursor of another request.
 */
export function parseCursor(cursor: string | undefined, cursorTag: string): CursorPosition {
  const [, offset, readyBy, tag] = CURSOR.exec(decode(cursor ?? "")) ?? [];
  if (offset === undefined) return { offset: 0, readyBy: Date.now(), cursorTag };
  if (tag === cursorTag) return { offset: Number(offset), readyBy: Number(readyBy), cursorTag };
  throw invalid(["body", "cursor"], "value_error", INVALID_CURSOR.message);
}

function decode(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function toCursor({ offset, readyBy, cursorTag }: CursorPosition): string {
  return Buffer.from(`at:${offset}:${readyBy}:${cursorTag}`).toString("base64url");
}
