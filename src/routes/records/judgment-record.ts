import { z } from "@hono/zod-openapi";
import { EVIDENCE_KINDS } from "../../evidence-kind.ts";
import { toProbability } from "../../search/log-odds-line.ts";
import type { Judgment } from "../../store/index-database/judgments.ts";
import { idField, time } from "./fields.ts";
import { isoTime } from "./index-record.ts";

export const judgmentRecord = z
  .object({
    judgment_id: z
      .string()
      .describe("Id of the judgment.")
      .openapi({ example: "jud_01KATN8J1K2M3N4P5Q6R7S8T9V" }),
    query: z
      .string()
      .describe("The query as it was sent; empty for an example alone.")
      .openapi({ example: "a red truck at the gate" }),
    search_id: z
      .string()
      .nullable()
      .describe("Id of the queued search, if it had an example; else null.")
      .openapi({ example: null }),
    segment_id: idField("segment", "Id of the segment."),
    relevant: z
      .boolean()
      .describe("Whether the segment shows or says what the query means.")
      .openapi({ example: true }),
    score: z
      .number()
      .nullable()
      .describe(
        "Score of the segment when it was judged, before the index's own calibration; null if the " +
          "search didn't find it.",
      )
      .openapi({ example: 0.71 }),
    log_odds: z
      .number()
      .nullable()
      .describe("Logarithm of `score / (1 - score)`.")
      .openapi({ example: 0.895 }),
    evidence: z
      .enum(EVIDENCE_KINDS)
      .nullable()
      .describe("Kind of its strongest evidence; null without any.")
      .openapi({ example: "visual" }),
    judged_at: time("When it was judged last."),
  })
  .openapi("Judgment", { description: "Whether a segment is relevant to a query." });

export function toJudgmentRecord(judgment: Judgment): z.input<typeof judgmentRecord> {
  const { logOdds } = judgment;
  return {
    judgment_id: judgment.judgmentId,
    query: judgment.query,
    search_id: judgment.searchId,
    segment_id: judgment.segmentId,
    relevant: judgment.isRelevant,
    score: logOdds === null ? null : toProbability(logOdds),
    log_odds: logOdds,
    evidence: judgment.evidenceKind,
    judged_at: isoTime(judgment.judgedAt),
  };
}
