import { z } from "@hono/zod-openapi";
import { PRICES, STORAGE_PRICES } from "../../config.ts";
import type { Usage } from "../../store/d1/usage.ts";
import { countField } from "./fields.ts";

const count = (description: string, example = 0) =>
  z.number().describe(description).openapi({ example });
const dollars = (description: string) => count(`US dollars for ${description}.`, 0.004);

/** What an account did on one day, and what that costs the deployment. */
export const usageRecord = z
  .object({
    date: z.iso.date().describe("Day (UTC).").openapi({ example: "2026-11-24" }),
    searches: countField("Searches.", 120),
    answers: countField("Generated answers.", 14),
    ingested_seconds: count("Seconds of video that were ingested.", 93.4),
    ingested_images: countField("Images that were ingested.", 5),
    model_calls: countField("Calls of models.", 61),
    neurons_estimate: count(
      "Billed unit of Workers AI, estimated from tokens and seconds.",
      1250.5,
    ),
    estimated_cost_usd: count("Sum of `costs_usd`, without what a plan includes.", 0.032),
    costs_usd: z
      .object({
        models: dollars("models"),
        frames: dollars("decoding frames of videos"),
        images: dollars("scaling and masking images"),
        conversion: dollars("converting videos"),
        vectors: dollars("querying vectors"),
        databases: dollars("rows read and written"),
        files: dollars("operations on files"),
        requests: dollars("requests and messages"),
        storage: dollars("a day of what is stored"),
      })
      .describe("Estimated costs of the day by kind."),
    operations: z
      .object({
        input_tokens: count("Tokens that models read."),
        output_tokens: count("Tokens that models wrote."),
        audio_seconds: count("Seconds of audio that were transcribed."),
        frames: count("Operations of Media Transformations."),
        images: count("Transformations of Images."),
        converted_seconds: count("Seconds of video that the decoder converted."),
        dimensions_queried: count("Dimensions of the vectors by which Vectorize was queried."),
        vectors_written: count("Vectors written to Vectorize."),
        rows_read: count("Rows that D1 and objects read."),
        rows_written: count("Rows that D1 and objects wrote."),
        object_requests: count("Calls of Durable Objects."),
        bucket_reads: count("Class B operations of R2."),
        bucket_writes: count("Class A operations of R2."),
        requests: count("Requests, and messages of queues."),
        queue_operations: count("Operations of queues, three a message."),
      })
      .describe("What the platform bills, counted."),
  })
  .openapi("Usage", { description: "What an account used on one day." });

export function toUsageRecord(day: Usage): z.input<typeof usageRecord> {
  const costs: Costs = estimateCosts(day);
  return {
    date: day.date,
    searches: day.searches,
    answers: day.answers,
    ingested_seconds: day.ingestedMs / 1000,
    ingested_images: day.ingestedImages,
    model_calls: day.modelCalls,
    neurons_estimate: day.neurons,
    estimated_cost_usd: Object.values(costs).reduce((sum, cost) => sum + cost, 0),
    costs_usd: costs,
    operations: {
      input_tokens: day.inputTokens,
      output_tokens: day.outputTokens,
      audio_seconds: day.audioSeconds,
      frames: day.frames,
      images: day.images,
      converted_seconds: day.convertedSeconds,
      dimensions_queried: day.dimensionsQueried,
      vectors_written: day.vectorsWritten,
      rows_read: day.rowsRead,
      rows_written: day.rowsWritten,
      object_requests: day.objectRequests,
      bucket_reads: day.bucketReads,
      bucket_writes: day.bucketWrites,
      requests: day.requests,
      queue_operations: day.queueOperations,
    },
  };
}

/** The kinds of cost, and the operations of each. What is stored is a kind of its own. */
const OPERATIONS_BY_KIND = {
  models: ["neurons"],
  frames: ["frames"],
  images: ["images"],
  conversion: ["convertedSeconds"],
  vectors: ["dimensionsQueried"],
  databases: ["rowsRead", "rowsWritten"],
  files: ["bucketReads", "bucketWrites"],
  requests: ["requests", "queueOperations", "objectRequests"],
} as const satisfies Record<string, readonly (keyof typeof PRICES)[]>;

/** Cost of a day in US dollars, by kind. */
type Costs = Record<keyof typeof OPERATIONS_BY_KIND | "storage", number>;

const DAYS_PER_MONTH = 30; // of a storage price

/** Estimates the cost of one day's usage, by kind, without what the platform's plan includes. */
function estimateCosts(usage: Usage): Costs {
  const operations = Object.entries(OPERATIONS_BY_KIND).map(([kind, names]) => {
    return [kind, names.reduce((sum, name) => sum + usage[name] * PRICES[name], 0)];
  });
  const { bucketByte, databaseByte, dimension, segment } = STORAGE_PRICES;
  const perSegment =
    segment.bucketBytes * bucketByte +
    segment.databaseBytes * databaseByte +
    segment.dimensions * dimension;
  const perMonth = usage.storedBytes * bucketByte + usage.storedSegments * perSegment;
  return { ...Object.fromEntries(operations), storage: perMonth / DAYS_PER_MONTH } as Costs;
}
