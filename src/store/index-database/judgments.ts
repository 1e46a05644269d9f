import type { JobId, JudgmentId, SegmentId } from "../../ids.ts";
import type { ScoredJudgment } from "../../index-calibration.ts";
import { JUDGMENTS } from "../../parameters.ts";
import { type Page, type PageRequest, raw, sql, type SqlFragment, toPage } from "../sql.ts";
import type { IndexDb } from "./index-database.ts";

/** Whether a person found a segment relevant to a query, with how the search scored it then. */
export interface Judgment extends ScoredJudgment {
  judgmentId: JudgmentId;
  segmentId: SegmentId;
  /** The query as it was sent; empty for an example alone. */
  query: string;
  /** The queued search with an example that was judged; null for a query of words. */
  searchId: JobId | null;
  /** Epoch ms. */
  judgedAt: number;
}

type JudgmentRow = Omit<Judgment, "isRelevant"> & { isRelevant: number };

const COLUMNS = raw(`judgment_id AS judgmentId, segment_id AS segmentId, query,
  query_key AS queryKey, search_id AS searchId, relevant AS isRelevant, log_odds AS logOdds,
  evidence_kind AS evidenceKind, calibration_tag AS calibrationTag, judged_at AS judgedAt`);

/** Judgments whose asset isn't being deleted. */
const FROM_JUDGMENTS = raw(`FROM judgments JOIN segments USING (segment_key)
  JOIN assets USING (asset_key) WHERE deleted_at IS NULL`);

/**
 * Stores a judgment. An earlier one of the same query and segment is replaced, and its id stays.
 * Returns the id; null if the index has `JUDGMENTS.maxCount`, or no such segment any more.
 */
export async function putJudgment(
  databases: readonly IndexDb[],
  judgment: Judgment,
): Promise<JudgmentId | null> {
  const isAlone = databases.length === 1; // then the statement itself counts
  const counts = isAlone ? [0] : await Promise.all(databases.map((db) => countJudgments([db])));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const { segmentId, queryKey } = judgment;
  const toStatement = (elsewhere: number): SqlFragment =>
    sql`INSERT INTO judgments (judgment_id, segment_key, query, query_key, search_id, relevant,
        log_odds, evidence_kind, calibration_tag, judged_at)
      SELECT ${judgment.judgmentId}, segment_key, ${judgment.query}, ${queryKey},
        ${judgment.searchId}, ${Number(judgment.isRelevant)}, ${judgment.logOdds},
        ${judgment.evidenceKind}, ${judgment.calibrationTag}, ${judgment.judgedAt}
      FROM segments JOIN assets USING (asset_key)
      WHERE segment_id = ${segmentId} AND deleted_at IS NULL
        AND ((SELECT COUNT(*) FROM judgments) < ${JUDGMENTS.maxCount - elsewhere} OR EXISTS (
          SELECT 1 FROM judgments AS earlier
          WHERE earlier.segment_key = segments.segment_key AND earlier.query_key = ${queryKey}
        ))
      ON CONFLICT (segment_key, query_key) DO UPDATE SET query = excluded.query,
        relevant = excluded.relevant, log_odds = excluded.log_odds,
        evidence_kind = excluded.evidence_kind, calibration_tag = excluded.calibration_tag,
        judged_at = excluded.judged_at
      RETURNING judgment_id AS judgmentId`;
  const stored = await Promise.all(
    databases.map((db, i) => db.first<{ judgmentId: JudgmentId }>(toStatement(total - counts[i]!))),
  );
  return stored.find((row) => row !== null)?.judgmentId ?? null;
}

/** Deletes the judgment of a query and a segment, if there is one. */
export async function deleteJudgment(
  databases: readonly IndexDb[],
  { segmentId, queryKey }: Pick<Judgment, "segmentId" | "queryKey">,
): Promise<void> {
  const statement = sql`DELETE FROM judgments WHERE query_key = ${queryKey}
    AND segment_key = (SELECT segment_key FROM segments WHERE segment_id = ${segmentId})`;
  await Promise.all(databases.map((db) => db.batch([statement])));
}

async function countJudgments(databases: readonly IndexDb[]): Promise<number> {
  const rows = await Promise.all(
    databases.map((db) =>
      db.first<{ count: number }>(sql`SELECT COUNT(*) AS count ${FROM_JUDGMENTS}`),
    ),
  );
  return rows.reduce((sum, row) => sum + (row?.count ?? 0), 0);
}

/** Lists a page of the judgments of an index, in the order of their creation. */
export async function listJudgments(
  databases: readonly IndexDb[],
  { limit, after }: PageRequest,
): Promise<Page<Judgment>> {
  const statement = sql`SELECT ${COLUMNS} ${FROM_JUDGMENTS} AND judgment_id > ${after}
    ORDER BY judgment_id LIMIT ${limit + 1}`;
  const [total, ...pages] = await Promise.all([
    countJudgments(databases),
    ...databases.map((db) => db.all<JudgmentRow>(statement)),
  ]);
  const rows = pages.flat().toSorted((a, b) => (a.judgmentId < b.judgmentId ? -1 : 1));
  return toPage(rows.map(fromRow), total, limit, ({ judgmentId }) => judgmentId);
}

/** Lists the newest judgments of an index, without their texts. */
export async function listScoredJudgments(
  databases: readonly IndexDb[],
  limit: number,
): Promise<ScoredJudgment[]> {
  const statement = sql`SELECT query_key AS queryKey, relevant AS isRelevant, log_odds AS logOdds,
      evidence_kind AS evidenceKind, calibration_tag AS calibrationTag, judged_at AS judgedAt
    ${FROM_JUDGMENTS} ORDER BY judged_at DESC, judgment_id DESC LIMIT ${limit}`;
  type Row = Omit<ScoredJudgment, "isRelevant"> & Pick<JudgmentRow, "isRelevant" | "judgedAt">;
  const rows = await Promise.all(databases.map((db) => db.all<Row>(statement)));
  const newest = rows.flat().toSorted((a, b) => b.judgedAt - a.judgedAt);
  return newest.slice(0, limit).map(({ isRelevant, ...row }) => {
    return Object.assign(row, { isRelevant: isRelevant === 1 });
  });
}

function fromRow(row: JudgmentRow): Judgment {
  return { ...row, isRelevant: row.isRelevant === 1 };
}
