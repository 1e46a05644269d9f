import type { z } from "@hono/zod-openapi";
import { EVIDENCE_KINDS, type EvidenceKind } from "../evidence-kind.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { JUDGMENTS } from "../parameters.ts";
import { calibrationState, calibrationTag, currentLine } from "../search/calibration.ts";
import { measureQuality } from "../search/quality.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { listScoredJudgments } from "../store/index-database/judgments.ts";
import { indexParams } from "./records/index-record.ts";
import { qualityRecord, toQualityFigures } from "./records/quality-record.ts";

export const qualityRoutes = createRouter("Judgments");

addEndpoint(
  qualityRoutes,
  {
    method: "get",
    path: "/index/{index_name}/quality",
    operationId: "getQuality",
    summary: "Measure the results of an index",
    description:
      "Computes from the judgments how precise results are, whether scores are right as " +
      "probabilities, and whether the best come first: for all, and by kind of evidence. Scores " +
      "are those that a search returns now.",
    scope: "read",
    params: indexParams,
    response: qualityRecord,
  },
  getQuality,
);

async function getQuality(
  c: Context,
  { params }: Input<typeof indexParams>,
): Promise<z.input<typeof qualityRecord>> {
  const index = await requireCallerIndex(c, params.index_name);
  const stored = await listScoredJudgments(indexDatabases(c.env, index), JUDGMENTS.maxCount);
  const tag = calibrationTag(c.env);
  const judgments = stored.filter(({ calibrationTag: ofScore }) => ofScore === tag);
  const line = currentLine(c.env, index.calibration) ?? undefined;
  const figuresOf = (kind: EvidenceKind) => {
    const ofKind = judgments.filter(({ evidenceKind }) => evidenceKind === kind);
    return toQualityFigures(measureQuality(ofKind, line));
  };
  return {
    calibration: calibrationState(c.env, index.calibration),
    outdated: stored.length - judgments.length,
    all: toQualityFigures(measureQuality(judgments, line)),
    by_evidence: Object.fromEntries(
      EVIDENCE_KINDS.map((kind) => [kind, figuresOf(kind)]),
    ) as Record<EvidenceKind, ReturnType<typeof toQualityFigures>>,
  };
}
