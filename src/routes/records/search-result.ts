import { z } from "@hono/zod-openapi";
import { invalid } from "../../errors.ts";
import { INVALID_CURSOR, pageFields } from "../../http/pagination.ts";
import type { MediaUrlSigner } from "../../http/signed-url.ts";
import type { Facets } from "../../search/aggregate/facets.ts";
import type { CalibrationState } from "../../search/calibration.ts";
import type { Hit } from "../../search/hits.ts";
import type { QueryInterpretation } from "../../search/query.ts";
import type { RankPosition } from "../../search/request.ts";
import { facetsField } from "./aggregate-record.ts";
import { calibrationField } from "./fields.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";

export const searchResult = z
  .object({
    segments: z.array(hitRecord).describe("Segments, best first. Empty while the job is queued."),
    ...pageFields,
    query: z
      .object({
        excluded: z
          .array(z.string())
          .describe("Words and phrases that no segment has: those after a minus.")
          .openapi({ example: ["carpenter"] }),
        corrected: z
          .string()
          .nullable()
          .describe(
            "The query that was searched for instead: with a word of the index for a word that no " +
              "segment has. Null if nothing was corrected; `correct: false` searches as written.",
          )
          .openapi({ example: "accordion player" }),
        corrected_conditions: z
          .array(
            z.object({
              kind: z.enum(["all", "none"]).describe("The field that has it."),
              query: z.string().describe("The text as sent."),
              corrected: z.string().describe("The text that was searched for instead."),
            }),
          )
          .optional()
          .describe("Texts of `all` and `none` that were corrected. Absent if none was.")
          .openapi({ example: [{ kind: "all", query: "a lanten", corrected: "a lantern" }] }),
        hint: z
          .string()
          .nullable()
          .describe("What may find more of what is meant; null if there is nothing to say.")
          .openapi({ example: null }),
        suggested: z
          .object({
            query: z.string().nullable().describe("What remains of the query; null for nothing."),
            none: z.array(z.string()).describe("What the query says isn't there."),
          })
          .nullable()
          .describe("The query with `none`, if its words say that something isn't there.")
          .openapi({ example: null }),
      })
      .optional()
      .describe("What the query was taken for. Absent while the job is queued."),
    facets: facetsField.optional(),
    calibration: calibrationField,
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
  /** Number of hits on earlier pages. */
  offset: number;
  after: RankPosition | null;
  readyBy: number;
  cursorTag: string;
}

/** A page of results, and where the next one begins: null, or absent, on the last one. */
type ResultPage = Omit<CursorPosition, "after"> & {
  total: number;
  /** Number of hits on the page before deleted ones were removed. */
  count: number;
  next?: RankPosition | null;
  /** Results of earlier versions don't have it. */
  interpretation?: QueryInterpretation;
  calibration: CalibrationState;
  /** Present only if facets were requested. */
  facets?: Facets;
};

export async function toSearchResult(
  hits: Hit[],
  page: ResultPage,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof searchResult>> {
  const { offset, readyBy, cursorTag, total, count, next, calibration, interpretation } = page;
  const { facets = {} } = page;
  return {
    segments: await Promise.all(hits.map((hit) => toHitRecord(hit, signUrl))),
    total,
    next_cursor: next
      ? toCursor({ offset: offset + count, after: next, readyBy, cursorTag })
      : null,
    ...(interpretation && { query: toQueryRecord(interpretation) }),
    ...(Object.keys(facets).length > 0 && { facets }),
    calibration,
  };
}

/** Models of words and images hardly understand "without": a search by `none` does. */
const NONE_HINT =
  "Words such as “without” are searched for as they are. Give what mustn't be there in `none`.";

function toQueryRecord(interpretation: QueryInterpretation) {
  const { excluded, corrected, correctedConditions = [], suggested = null } = interpretation;
  return {
    excluded,
    corrected,
    ...(correctedConditions.length > 0 && { corrected_conditions: correctedConditions }),
    hint: suggested && NONE_HINT,
    suggested,
  };
}

const CURSOR =
  /^after:(\d{1,6}):(\d{13}):(\d{1,6}):(\d(?:\.\d{1,20})?(?:e-\d{1,3})?):([\w-]{1,64}(?:,[\w-]{1,64}){0,2}):([\w-]+)$/;

/** Tests whether a cursor was issued by this API. */
export function isCursorPosition(cursor: string): boolean {
  return CURSOR.test(decode(cursor));
}

/**
 * Parses a valid cursor of the request with `cursorTag`. Without one, returns the first position of
 * a new search. Throws a `ValidationError` for a cursor of another request.
 */
export function parseCursor(cursor: string | undefined, cursorTag: string): CursorPosition {
  const [, offset, readyBy, depth, score, ids, tag] = CURSOR.exec(decode(cursor ?? "")) ?? [];
  if (ids === undefined) return { offset: 0, after: null, readyBy: Date.now(), cursorTag };
  if (tag === cursorTag) {
    const after = { segmentIds: ids.split(","), depth: Number(depth), score: Number(score) };
    return { offset: Number(offset), after, readyBy: Number(readyBy), cursorTag };
  }
  throw invalid(["body", "cursor"], "value_error", INVALID_CURSOR);
}

function decode(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function toCursor(position: CursorPosition & { after: RankPosition }): string {
  const { offset, after, readyBy, cursorTag } = position;
  const { segmentIds, depth, score } = after;
  const fields = ["after", offset, readyBy, depth, score, segmentIds.join(","), cursorTag];
  return Buffer.from(fields.join(":")).toString("base64url");
}
