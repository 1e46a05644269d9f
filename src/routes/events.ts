import { z } from "@hono/zod-openapi";
import { EVENTS } from "../config.ts";
import { AppError } from "../errors.ts";
import { indexObject } from "../store/index-object.ts";
import { EVENT_TYPES } from "../types.ts";
import { revalidateKey } from "../http/authenticate.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { eventRecord } from "./event-record.ts";
import { indexParams } from "./index-record.ts";
import { requireCallerIndex } from "./indices.ts";

const RETRY_AFTER_SECONDS = 5;

export const eventRoutes = createRouter("Events");

addEndpoint(
  eventRoutes,
  {
    method: "get",
    path: "/index/{index_name}/events",
    summary: "Listen To Events",
    scope: "read",
    params: indexParams,
    response: eventRecord.extend({ type: z.enum([...EVENT_TYPES, "reset"]) }),
    isEventStream: true,
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
