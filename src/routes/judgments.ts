import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { invalid, type ValidationIssue } from "../errors.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { CSV, toCsv } from "../http/csv.ts";
import { addEndpoint, createRouter, type Input, type SentInput } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { JUDGMENTS } from "../parameters.ts";
import { calibrationState } from "../search/calibration.ts";
import { judge, type JudgedQuery, removeJudgment } from "../search/judge.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { listJudgments } from "../store/index-database/judgments.ts";
import type { MediaIndexRow } from "../types.ts";
import { queryText } from "./example-query.ts";
import { calibrationField, EXAMPLE_ID, orNull } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";
import { judgmentRecord, toJudgmentRecord } from "./records/judgment-record.ts";
import { requireSearchableIndex } from "./searchable-index.ts";

/** Judgments of whether segments are relevant (docs/judgments.md). */
export const judgmentRoutes = createRouter("Judgments");

const judgmentBody = z.object({
  query: queryText()
    .optional()
    .describe("The query of words that was searched for. Required unless `search_id` is given."),
  search_id: z
    .string()
    .max(ID_CHARACTERS)
    .optional()
    .describe(
      "`job_id` of a queued search, in place of the query: of one by an image or a clip, say.",
    ),
  segment_id: z.string().max(ID_CHARACTERS).describe("Id of the segment that is judged."),
  relevant: z
    .boolean()
    .nullable()
    .default(null)
    .describe("Whether the segment shows or says what the query means. Null removes the judgment."),
});

const judgmentResult = z
  .object({
    judgment: orNull(judgmentRecord, "The judgment as it is stored; null if it was removed."),
    calibration: calibrationField,
  })
  .openapi("JudgmentResult", { description: "A judgment, and what it makes of the calibration." });

addEndpoint(
  judgmentRoutes,
  {
    method: "post",
    path: "/index/{index_name}/judgments",
    operationId: "judgeSegment",
    summary: "Judge a result",
    description:
      "Stores whether a segment is relevant to a query, with the score that the service gives it. A " +
      "judgment of the same query and segment replaces the earlier one. With 50 or more, scores " +
      "may be fitted to them. Counts as a search unless `search_id` is given.",
    errors: {
      conflict:
        `The index has ${JUDGMENTS.maxCount} judgments, or the search hasn't ended or was for a ` +
        "sequence.",
    },
    scope: "write",
    params: indexParams,
    body: judgmentBody,
    examples: {
      relevant: {
        summary: "A relevant result",
        value: {
          query: "a red truck at the gate",
          segment_id: EXAMPLE_ID.segment,
          relevant: true,
        },
      },
      removed: {
        summary: "Remove a judgment",
        value: {
          query: "a red truck at the gate",
          segment_id: EXAMPLE_ID.segment,
          relevant: null,
        },
      },
    },
    rules: queryIssues,
    response: judgmentResult,
  },
  judgeSegment,
);

/** Returns an issue unless either a query or a search is judged. */
function queryIssues(_: Context, { body: { query, search_id } }: SentInput): ValidationIssue[] {
  if (query === undefined && search_id === undefined) {
    return invalid(["body", "query"], "missing", "Field required").issues;
  }
  if (query === undefined || search_id === undefined) return [];
  return invalid(["body", "search_id"], "value_error", "give either query or search_id").issues;
}

async function judgeSegment(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof judgmentBody>,
) {
  const index = await requireSearchableIndex(c, params.index_name);
  const judgedQuery: JudgedQuery =
    body.search_id === undefined ? { query: body.query! } : { searchId: body.search_id };
  const target = { judgedQuery, segment: body.segment_id };
  if (body.relevant === null) {
    const fitted = await removeJudgment(c.env, index, target);
    return { judgment: null, calibration: stateWith(c, index, fitted) };
  }
  const { judgment, fitted } = await judge(c.env, index, target, body.relevant);
  if (body.query !== undefined) countWork(c, "searches");
  return { judgment: toJudgmentRecord(judgment), calibration: stateWith(c, index, fitted) };
}

/** Returns the state of an index's scores with a calibration, which its settings may turn off. */
function stateWith(
  c: Context,
  { settings }: MediaIndexRow,
  calibration: MediaIndexRow["calibration"],
) {
  return calibrationState(c.env, settings["calibration"] === "general" ? null : calibration);
}

addEndpoint(
  judgmentRoutes,
  {
    method: "get",
    path: "/index/{index_name}/judgments",
    operationId: "listJudgments",
    summary: "List the judgments",
    description:
      "Lists the judgments of an index by their creation. With `Accept: text/csv`, all of them are " +
      "sent as a table, whatever `limit` is.",
    scope: "read",
    params: indexParams,
    query: pageQuery,
    response: pageOf("judgments", judgmentRecord),
    text: {
      [CSV]: {
        schema: z.string().describe("A row for each judgment, with a header (RFC 4180)."),
        example:
          "judgment_id,query,search_id,segment_id,relevant,score,log_odds,evidence,judged_at\r\n",
      },
    },
  },
  listIndexJudgments,
);

async function listIndexJudgments(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof pageQuery>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  if (/\btext\/csv\b/.test(c.req.header("accept") ?? "")) {
    return toCsv(COLUMNS, listRows(c, index, pageRequest(query).after));
  }
  const page = await listJudgments(indexDatabases(c.env, index), pageRequest(query));
  const judgments = page.items.map(toJudgmentRecord);
  return { judgments, total: page.total, next_cursor: nextCursor(page) };
}

const COLUMNS = Object.keys(judgmentRecord.shape) as (keyof typeof judgmentRecord.shape)[];

async function* listRows(c: Context, index: MediaIndexRow, from: string) {
  const databases = indexDatabases(c.env, index);
  for (let after: string | null = from; after !== null;) {
    const page = await listJudgments(databases, { limit: LIMITS.pageSize, after });
    for (const judgment of page.items) {
      const record = toJudgmentRecord(judgment);
      yield COLUMNS.map((column) => record[column]);
    }
    after = page.next;
  }
}
