import { z } from "@hono/zod-openapi";
import { ASSET_STATES, ASSET_TYPES, EVENT_TYPES } from "../../types.ts";
import { failureRecord, idField, orNull, time } from "./fields.ts";
import { hitRecord } from "./segment-record.ts";

/** A segment that matches a watch, as an event tells it. */
const matchedSegment = hitRecord.pick({
  segment_id: true,
  start_seconds: true,
  end_seconds: true,
  score: true,
  evidence: true,
});

/** Data of an event. The fields about an asset are absent from events about the index alone. */
const eventData = z
  .object({
    index_name: z.string().describe("Name of the index.").openapi({ example: "holidays" }),
    asset_id: idField("asset", "Id of the asset.").optional(),
    asset_type: z.enum(ASSET_TYPES).optional().describe("Kind of the asset."),
    state: z
      .enum(ASSET_STATES)
      .optional()
      .describe("Step of the ingest.")
      .openapi({ example: "embedding" }),
    progress: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe("Share of the ingest that is done, from 0 to 1.")
      .openapi({ example: 0.8 }),
    error: orNull(failureRecord, "Why the ingest failed; null in other states.")
      .optional()
      .openapi({ example: null }),
    job_id: idField("job", "Id of the job that ingests the asset.").nullable().optional(),
    watch_id: idField("watch", "Id of the watch that has matched.").optional(),
    watch_name: z
      .string()
      .optional()
      .describe("Name of that watch.")
      .openapi({ example: "Red truck at the gate" }),
    title: z
      .string()
      .optional()
      .describe("Title of the asset, if a watch has matched.")
      .openapi({ example: "gate.mp4" }),
    total: z
      .int()
      .optional()
      .describe("Segments of the asset that match the watch.")
      .openapi({ example: 1 }),
    matches: z.array(matchedSegment).optional().describe("The best 20 of these, the best first."),
    links: z
      .object({
        asset: z.string().describe("Path of the asset's record.").openapi({
          example: "/index/holidays/video/vid_01KATN4B7Y3D5E8GHJ1K2M6P9Q",
        }),
        matches: z.string().describe("Path of all matches of the watch.").openapi({
          example: "/index/holidays/watches/wat_01KATN8K7M8N9P0Q1R2S3T4V5W/matches",
        }),
      })
      .optional()
      .describe("Paths of the API, for more."),
  })
  .describe("What changed.");

/** Data of a server-sent event and body of a webhook. */
export const eventRecord = z
  .object({
    type: z.enum(EVENT_TYPES).describe("What happened."),
    timestamp: time("When it happened."),
    data: eventData,
  })
  .openapi("Event", { description: "A change of an index." });
