import type { JobId, JudgmentId, SegmentId } from "../../ids.ts";
import { JUDGMENTS } from "../../parameters.ts";
import type { EvidenceKind } from "../../types.ts";
import { type PageRequest, raw, sql, toPage } from "../sql.ts";
import { allRows, type IndexDb } from "./index-database.ts";

/** Whether a person found a segment relevant to a query, with how the search scored it then. */
export interface Judgment {
  judgmentId: JudgmentId;
  segmentId: SegmentId;
  /** Fingerprint, equal for queries that search for the same. */
  queryKey: string;
  /** 1 if they did. */
  relevant: number;
  /** Log odds of the score; null if it wasn't found. */
  logOdds: number | null;
  /** Kind of the strongest evidence; null without any. */
  evidenceKind: EvidenceKind | null;
  /** Names the parameters of the score: `calibrationTag`. */
  calibrationTag: number;
  /** The query as it was sent; empty for an example alone. */
  query: string;
  /** The queued search with an example that was judged; null for a query of words. */
  searchId: JobId | null;
  /** Epoch ms. */
  judgedAt: number;
}

const COLUMNS = raw(`judgment_id AS judgmentId, segment_id AS segmentId, query,
  query_key AS queryKey, search_id AS searchId, relevant, log_odds AS logOdds,
  evidence_kind AS evidenceKind, calibration_tag AS calibrationTag, judged_at AS judgedAt`);

/** Judgments whose asset isn't being deleted. */
const FROM_JUDGMENTS = raw(`FROM judgments JOIN segments USING (segment_key)
  JOIN assets USING (asset_key) WHERE deleted_at IS NULL`);

/**
 * Stores a judgment. An earlier one of the same query and segment is replaced, and its id stays.
 * Returns the id; null if the database of the segment has `JUDGMENTS.maxCount`, or no such segment.
 */
export async function putJudgment(databases: readonly IndexDb[], judgment: Judgment) {
  const { segmentId, queryKey } = judgment;
  const statement = sql`INSERT INTO judgments
      (judgment_id, segment_key, query, query_key, search_id, relevant, log_odds, evidence_kind,
      calibration_tag, judged_at)
    SELECT ${judgment.judgmentId}, segment_key, ${judgment.query}, ${queryKey},
      ${judgment.searchId}, ${judgment.relevant}, ${judgment.logOdds},
      ${judgment.evidenceKind}, ${judgment.calibrationTag}, ${judgment.judgedAt}
    FROM segments JOIN assets USING (asset_key)
    WHERE segment_id = ${segmentId} AND deleted_at IS NULL
      AND ((SELECT COUNT(*) FROM judgments) < ${JUDGMENTS.maxCount} OR EXISTS (
        SELECT 1 FROM judgments AS earlier
        WHERE earlier.segment_key = segments.segment_key AND earlier.query_key = ${queryKey}
      ))
    ON CONFLICT (segment_key, query_key) DO UPDATE SET query = excluded.query,
      relevant = excluded.relevant, log_odds = excluded.log_odds,
      evidence_kind = excluded.evidence_kind, calibration_tag = excluded.calibration_tag,
      judged_at = excluded.judged_at
    RETURNING judgment_id AS judgmentId`;
  const [stored] = await allRows<{ judgmentId: JudgmentId }>(databases, statement);
  return stored?.judgmentId ?? null;
}

export async function deleteJudgment(
  databases: readonly IndexDb[],
  { segmentId, queryKey }: Pick<Judgment, "segmentId" | "queryKey">,
): Promise<void> {
  const statement = sql`DELETE FROM judgments WHERE query_key = ${queryKey}
    AND segment_key = (SELECT segment_key FROM segments WHERE segment_id = ${segmentId})`;
  await Promise.all(databases.map((db) => db.batch([statement])));
}

export async function listJudgments(databases: readonly IndexDb[], { limit, after }: PageRequest) {
  const statement = sql`SELECT ${COLUMNS} ${FROM_JUDGMENTS} AND judgment_id > ${after}
    ORDER BY judgment_id LIMIT ${limit + 1}`;
  const [counts, rows] = await Promise.all([
    allRows<{ count: number }>(databases, sql`SELECT COUNT(*) AS count ${FROM_JUDGMENTS}`),
    allRows<Judgment>(databases, statement),
  ]);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  rows.sort((a, b) => (a.judgmentId < b.judgmentId ? -1 : 1));
  return toPage(rows, total, limit, ({ judgmentId }) => judgmentId);
}

export type ScoredJudgment = Pick<Judgment, "relevant" | "logOdds" | "calibrationTag">;

export function listScoredJudgments(databases: readonly IndexDb[]): Promise<ScoredJudgment[]> {
  const statement = sql`SELECT relevant, log_odds AS logOdds, calibration_tag AS calibrationTag
    ${FROM_JUDGMENTS}`;
  return allRows(databases, statement);
}
