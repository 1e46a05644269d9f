import { z } from "@hono/zod-openapi";
import { EVIDENCE_KINDS, type EvidenceKind } from "../../evidence-kind.ts";
import { JUDGMENTS } from "../../parameters.ts";
import { type Quality, type QualityBin } from "../../search/quality.ts";
import { calibrationField, countField, orNull } from "./fields.ts";

const share = (description: string, example: number) =>
  z.number().describe(description).openapi({ example });
const low = share("Lower end of its interval of 90 %.", 0.61);
const high = share("Upper end of its interval of 90 %.", 0.84);

const precisionAt = z.object({
  threshold: share("Lowest score that counts, as `top_p` is.", 0.5),
  judgments: countField("Judgments of segments with such a score.", 41),
  precision: share("Share of them that are relevant; null without any.", 0.74).nullable(),
  low: low.nullable(),
  high: high.nullable(),
});

const bin = z.object({
  judgments: countField("Judgments whose scores are in the bin, a tenth wide.", 12),
  predicted: share("Mean of these scores.", 0.55),
  observed: share("Share of them that are relevant.", 0.58),
  low,
  high,
});

const qualityFigures = z
  .object({
    judgments: countField("Judgments that count here.", 64),
    relevant: countField("Those that say relevant.", 38),
    is_enough: z
      .boolean()
      .describe(
        `Whether ${JUDGMENTS.minMeasured} or more of them are of segments that a search found: with ` +
          "fewer there are too few to say anything, and every figure is null.",
      )
      .openapi({ example: true }),
    precision: z.array(precisionAt).nullable().describe("Precision at five thresholds."),
    calibration_error: orNull(
      z.object({
        value: share(
          "Mean distance of scores from the share that is relevant; 0 is perfect.",
          0.07,
        ),
        low: share("Lower end of its interval of 90 % (bootstrap).", 0.02),
        high: share("Upper end of its interval of 90 % (bootstrap).", 0.11),
      }),
      "Expected calibration error over the bins.",
    ),
    ndcg_at_10: orNull(
      z.object({
        value: share("Mean over queries; 1 if relevant segments always come first.", 0.86),
        queries: countField("Queries with a relevant segment.", 9),
      }),
      "Mean nDCG@10 of the order among judged segments. Null if no query has a relevant one.",
    ),
    bins: z.array(bin).nullable().describe("Points of the reliability diagram."),
  })
  .openapi("QualityFigures", { description: "What judgments tell of scores and order." });

export const qualityRecord = z
  .object({
    calibration: calibrationField,
    outdated: countField("Judgments left out: scores were calibrated anew since.", 0),
    all: qualityFigures,
    by_evidence: z
      .object(
        Object.fromEntries(EVIDENCE_KINDS.map((kind) => [kind, qualityFigures])) as Record<
          EvidenceKind,
          typeof qualityFigures
        >,
      )
      .describe("The same for segments by the kind of their strongest evidence."),
  })
  .openapi("Quality", { description: "How right the results of an index are, by its judgments." });

export function toQualityFigures(quality: Quality): z.input<typeof qualityFigures> {
  const { precision, calibrationError, ndcg, bins } = quality;
  return {
    judgments: quality.count,
    relevant: quality.relevantCount,
    is_enough: quality.isEnough,
    precision:
      precision &&
      precision.map(({ threshold, count, precision: value, interval }) => ({
        threshold,
        judgments: count,
        precision: value,
        low: interval && interval.low,
        high: interval && interval.high,
      })),
    calibration_error: calibrationError,
    ndcg_at_10: ndcg && { value: ndcg.value, queries: ndcg.queryCount },
    bins: bins && bins.map(toBinRecord),
  };
}

function toBinRecord({ count: judgments, predicted, observed, low: from, high: to }: QualityBin) {
  return { judgments, predicted, observed, low: from, high: to };
}
