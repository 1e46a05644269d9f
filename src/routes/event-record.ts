import { z } from "@hono/zod-openapi";
import { ASSET_STATES, ASSET_TYPES, EVENT_TYPES } from "../types.ts";

/** Data of an event. The fields about an asset are absent from events about the index alone. */
const eventData = z.object({
  index_name: z.string(),
  asset_id: z.string().optional(),
  asset_type: z.enum(ASSET_TYPES).optional(),
  state: z.enum(ASSET_STATES).optional(),
  progress: z.number().min(0).max(1).optional(),
  error: z.object({ code: z.string(), message: z.string() }).nullable().optional(),
  job_id: z.string().nullable().optional(),
});

/** Data of a server-sent event and body of a webhook. */
export const eventRecord = z
  .object({
    type: z.enum(EVENT_TYPES),
    timestamp: z.iso.datetime(),
    data: eventData,
  })
  .openapi("Event");
