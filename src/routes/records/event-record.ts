import { z } from "@hono/zod-openapi";
import { ASSET_STATES, ASSET_TYPES, EVENT_TYPES } from "../../types.ts";
import { failureRecord, idField, orNull, time } from "./fields.ts";

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
