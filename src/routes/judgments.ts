import { invalid, type ValidationIssue } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import { type Context, countWork } from "../http/context.ts";
import { addEndpoint, createRouter, type SentInput } from "../http/endpoint.ts";
import {
  EXAMPLE_ID,
  calibrationField,
  countField,
  flag,
  idField,
  number,
  orNull,
  text,
  time,
} from "../http/fields.ts";
import { pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import * as z from "../http/zod.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { JUDGMENTS } from "../parameters.ts";
import { calibrationState, calibrationTag } from "../search/calibration.ts";
import { toProbability } from "../search/fuse.ts";
import { countJudgments, judge } from "../search/judge.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import {
  type Judgment,
  listJudgments,
  listScoredJudgments,
} from "../store/index-database/judgments.ts";
import { EVIDENCE_KINDS } from "../types.ts";
import { queryText } from "./records/search-request.ts";
import { requireSearchableIndex } from "./searchable-index.ts";

/** Judgments of whether segments are relevant (docs/search.md#judgments). */
export const judgmentRoutes = createRouter("Judgments");

const judgmentRecord = z
  .object({
    judgment_id: text("Id of the judgment.", "jud_01KATN8J1K2M3N4P5Q6R7S8T9V"),
    query: text("The query as it was sent; empty for an example alone.", "a red truck at the gate"),
    search_id: text("Id of the queued search, if it had an example; else null.", null).nullable(),
    segment_id: idField("segment", "Id of the segment."),
    relevant: flag("Whether the segment shows or says what the query means.", true),
    score: number("Its score when it was judged; null if it wasn't found.", 0.71).nullable(),
    log_odds: number("Logarithm of `score / (1 - score)`.", 0.895).nullable(),
    evidence: z
      .enum(EVIDENCE_KINDS)
      .nullable()
      .describe("Kind of its strongest evidence; null without any.")
      .openapi({ example: "visual" }),
    judged_at: time("When it was judged last."),
  })
  .openapi("Judgment", { description: "Whether a segment is relevant to a query." });

function toJudgmentRecord(judgment: Judgment) {
  const { relevant, logOdds, evidenceKind: evidence } = judgment;
  const score = logOdds === null ? null : toProbability(logOdds);
  return mapRecord(judgmentRecord, judgment, { relevant: relevant === 1, score, evidence });
}

const judgmentBody = z.object({
  query: queryText()
    .optional()
    .describe("The query of words that was searched for. Required unless `search_id` is given."),
  search_id: text(
    "`job_id` of a queued search, in place of the query: of one by an image or a clip, say.",
  )
    .max(ID_CHARACTERS)
    .optional(),
  segment_id: z.string().max(ID_CHARACTERS).describe("Id of the segment that is judged."),
  relevant: z
    .boolean()
    .nullable()
    .describe("Whether the segment shows or says what the query means. Null removes the judgment."),
});

const judgmentResult = z
  .object({
    judgment: orNull(judgmentRecord, "The judgment as it is stored; null if it was removed."),
  })
  .openapi("JudgmentResult", { description: "A judgment that was stored or removed." });

addEndpoint(judgmentRoutes, "POST /index/{index_name}/judgments", {
  operationId: "judgeSegment",
  summary: "Judge a result",
  description:
    "Stores whether a segment is relevant to a query, with the score that the service gives it. A " +
    "judgment of the same query and segment replaces the earlier one. Counts as a search unless " +
    "`search_id` is given.",
  errors: {
    conflict:
      `The index has ${JUDGMENTS.maxCount} judgments, or the search hasn't ended or was for a ` +
      "sequence.",
  },
  body: judgmentBody,
  examples: {
    "A relevant result": {
      query: "a red truck at the gate",
      segment_id: EXAMPLE_ID.segment,
      relevant: true,
    },
    "Remove a judgment": {
      query: "a red truck at the gate",
      segment_id: EXAMPLE_ID.segment,
      relevant: null,
    },
  },
  rules: queryIssues,
  response: judgmentResult,
  async handle(c, { params, body }) {
    const index = await requireSearchableIndex(c, params.index_name);
    const { query, search_id: searchId, segment_id: segment, relevant } = body;
    const judgment = await judge(c.env, index, { query, searchId, segment }, relevant);
    if (query !== undefined && relevant !== null) countWork(c, "searches");
    return { judgment: judgment && toJudgmentRecord(judgment) };
  },
});

/** Returns an issue unless either a query or a search is judged. */
function queryIssues(_: Context, { body: { query, search_id } }: SentInput): ValidationIssue[] {
  if (query === undefined && search_id === undefined) {
    return invalid(["body", "query"], "missing", "Field required").issues;
  }
  if (query === undefined || search_id === undefined) return [];
  return invalid(["body", "search_id"], "value_error", "give either query or search_id").issues;
}

addEndpoint(judgmentRoutes, "GET /index/{index_name}/judgments", {
  operationId: "listJudgments",
  summary: "List the judgments",
  description: "Lists the judgments of an index by their creation.",
  query: pageQuery,
  response: pageOf("judgments", judgmentRecord),
  async handle(c, { query }) {
    const index = await requireCallerIndex(c);
    const page = await listJudgments(indexDatabases(c.env, index), pageRequest(query));
    return pageRecord("judgments", page, toJudgmentRecord);
  },
});

const qualityRecord = z
  .object({
    calibration: calibrationField,
    judged: countField("Judgments of the index.", 64),
    right: countField("Those that say relevant.", 38),
    unfound: countField("Those of segments that the search didn't find.", 3),
    outdated: countField("Those whose scores are from earlier parameters of the service.", 0),
    tenths: z
      .array(
        z.object({
          from: number("Lowest score of the tenth.", 0.7),
          judged: countField("Judgments of segments with such a score.", 12),
          right: countField("Those that say relevant.", 9),
        }),
      )
      .describe(
        "The other judgments by tenth of the score, from 0 on. Scores are right as probabilities " +
          "if the share of `right` in each is about the middle of the tenth.",
      ),
  })
  .openapi("Quality", { description: "How right the results of an index are, by its judgments." });

addEndpoint(judgmentRoutes, "GET /index/{index_name}/quality", {
  operationId: "getQuality",
  summary: "Measure the results of an index",
  description: "Counts for each tenth of the score how many results were judged, and were right.",
  response: qualityRecord,
  async handle(c) {
    const index = await requireCallerIndex(c);
    const judgments = await listScoredJudgments(indexDatabases(c.env, index));
    const calibration = calibrationState(c.env);
    return { calibration, ...countJudgments(judgments, calibrationTag(c.env)) };
  },
});
