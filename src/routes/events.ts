import { z } from "@hono/zod-openapi";
import { EVENTS } from "../config.ts";
import { AppError } from "../errors.ts";
import { revalidateKey } from "../http/authenticate.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { indexObject } from "../store/index-object.ts";
import { EVENT_TYPES } from "../types.ts";
import { eventRecord } from "./records/event-record.ts";
import { EXAMPLE_ID } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";

const RETRY_AFTER_SECONDS = 5;

export const eventRoutes = createRouter("Events");

addEndpoint(
  eventRoutes,
  {
    method: "get",
    path: "/index/{index_name}/events",
    operationId: "streamEvents",
    summary: "Follow the events of an index",
    description:
      "Sends every change of state and progress as a server-sent event, until the client closes " +
      "the connection or a minute has passed; then connect again. The header `Last-Event-ID` " +
      "continues after that event. An event `reset` says that some were missed: read the records.",
    scope: "read",
    params: indexParams,
    headers: z.object({
      "last-event-id": z
        .string()
        .optional()
        .describe("Id of the last event that was received: later ones are sent first."),
    }),
    text: {
      "text/event-stream": {
        schema: eventRecord
          .extend({ type: z.enum([...EVENT_TYPES, "reset"]).describe("What happened.") })
          .openapi("StreamedEvent", { description: "Data of a server-sent event." }),
        example: {
          type: "asset.progress",
          timestamp: "2026-11-24T09:30:00.000Z",
          data: {
            index_name: "holidays",
            asset_id: EXAMPLE_ID.asset,
            asset_type: "video",
            state: "embedding",
            progress: 0.8,
          },
        },
      },
    },
  },
  subscribeToEvents,
);

async function subscribeToEvents(c: Context, { params }: Input<typeof indexParams>) {
  const { indexId, name } = await requireCallerIndex(c, params.index_name);
  await revalidateKey(c, 0); // the stream runs for a minute without further checks
  const lastEventId = c.req.header("last-event-id") ?? null;
  const object = indexObject(c.env, indexId);
  const stream = await object.subscribe({ indexId, indexName: name }, lastEventId);
  if (stream === "closed") throw new AppError("not_found", `There is no index named "${name}".`);
  if (stream === "full") {
    const message = `This index has its maximum of ${EVENTS.maxSubscribers} event streams.`;
    throw new AppError("rate_limited", message, { retryAfter: RETRY_AFTER_SECONDS });
  }
  return new Response(stream, {
    headers: { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" },
  });
}
