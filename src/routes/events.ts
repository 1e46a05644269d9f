import { z } from "@hono/zod-openapi";
import { EVENTS } from "../config.ts";
import { AppError } from "../errors.ts";
import { indexObject } from "../store/index-object.ts";
import { EVENT_TYPES } from "../types.ts";
import { requireStillValid } from "./authenticate.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { eventRecord } from "./event-record.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";

const RETRY_AFTER = 5;

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
    isStream: true,
  },
  async (c, { params }) => {
    const { indexId, name } = await requireOwnIndex(c, params.index_name);
    await requireStillValid(c, 0); // the stream goes on for a minute
    const lastEventId = c.req.header("last-event-id") ?? null;
    const object = indexObject(c.env, indexId);
    const stream = await object.listen({ indexId, indexName: name }, lastEventId);
    if (stream === "closed") throw new AppError("not_found", `There is no index named "${name}".`);
    if (stream === "full") {
      const message = `${EVENTS.listeners} are listening to this index, which is all it has room for.`;
      throw new AppError("rate_limited", message, { retryAfter: RETRY_AFTER });
    }
    return new Response(stream, {
      headers: { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" },
    });
  },
);
