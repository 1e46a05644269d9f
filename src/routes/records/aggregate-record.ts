import { z } from "@hono/zod-openapi";
import { type Aggregate, type CountedNumber, UNITS } from "../../search/aggregate/counts.ts";
import { calibrationField, countField, orNull } from "./fields.ts";

/** Decimals of a number: milliseconds of seconds. */
const DECIMALS = 3;

const interval = z
  .array(z.number())
  .length(2)
  .openapi({ example: [9, 17] });

/** A key that groups or facets have. */
const keyField = z
  .union([z.string(), z.number(), z.boolean(), z.null()])
  .describe(
    "Value of the field that the group shares: an asset's id, a label, a text, number or boolean, " +
      "or a year, month or day; null for what has none.",
  )
  .openapi({ example: "Lumen One" });

/** Values among the hits of a search, by the names in `facets`. */
export const facetsField = z
  .record(
    z.string(),
    z.array(z.object({ key: keyField, count: countField("Hits on all pages that have it.", 12) })),
  )
  .describe(
    "With `facets`: by each of their names, the most frequent values among the hits of all pages " +
      "(`total`), at most 20. A hit with several values counts for each.",
  )
  .openapi({ example: { "metadata.camera": [{ key: "Lumen One", count: 12 }] } });

const countFields = {
  count: z
    .number()
    .describe("Exact without a query; with one, the expected number.")
    .openapi({ example: 12.4 }),
  interval: orNull(
    interval,
    "Where the number is with a probability of 90 %: lowest and highest. Null if it is exact.",
  ),
};

export const aggregateRecord = z
  .object({
    groups: z
      .array(
        z.object({
          key: keyField,
          title: z
            .string()
            .nullable()
            .describe("Title of the asset, if each asset is a group; else null.")
            .openapi({ example: null }),
          ...countFields,
        }),
      )
      .describe("The groups with the largest numbers, largest first."),
    other: z
      .object({ groups: countField("Groups that aren't listed.", 3), ...countFields })
      .describe("The other groups together. What is in several of them counts for each."),
    total: z
      .object(countFields)
      .describe("All that is counted, each once: groups of labels and lists overlap."),
    unit: z.enum(UNITS).describe("What was counted, as requested."),
    scope: z
      .object({
        segments: countField("Segments that the filter and the modes select.", 214),
        scored: countField(
          "How many of them the query was compared with; what the others may add is in the " +
            "numbers and intervals. 0 without a query.",
          180,
        ),
      })
      .describe("What was counted from."),
    query: z
      .object({
        excluded: z
          .array(z.string())
          .describe("Words and phrases that nothing counted has: those after a minus.")
          .openapi({ example: [] }),
        corrected: z
          .string()
          .nullable()
          .describe("The query that was counted instead, with a word corrected; else null.")
          .openapi({ example: null }),
      })
      .describe("What the query was taken for."),
    calibration: calibrationField,
  })
  .openapi("Aggregate", { description: "Numbers of segments, seconds or assets, by groups." });

export function toAggregateRecord(
  { groups, other, total, scope, interpretation, calibration }: Aggregate,
  unit: z.input<typeof aggregateRecord>["unit"],
): z.input<typeof aggregateRecord> {
  const { groupCount, ...others } = other;
  return {
    groups: groups.map(({ key, title, ...counted }) => ({ key, title, ...toCount(counted) })),
    other: { groups: groupCount, ...toCount(others) },
    total: toCount(total),
    unit,
    scope,
    query: interpretation,
    calibration,
  };
}

function toCount({ count, interval: bounds }: CountedNumber) {
  return { count: round(count), interval: bounds && bounds.map(round) };
}

function round(value: number): number {
  return Number(value.toFixed(DECIMALS));
}
