import { EVENTS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { revalidateKey } from "../http/authenticate.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import {
  list,
  EXAMPLE_ID,
  countField,
  failureRecord,
  idField,
  int,
  isoTime,
  oneOf,
  orNull,
  share,
  text,
  time,
} from "../http/fields.ts";
import { INVALID_CURSOR, pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import * as z from "../http/zod.ts";
import { eventId, eventSeq, type IndexId } from "../ids.ts";
import { indexObject } from "../store/index-object.ts";
import { toPage } from "../store/sql.ts";
import {
  ASSET_STATES,
  ASSET_TYPES,
  EVENT_TYPES,
  type Delivery,
  type WebhookState,
} from "../types.ts";
import { hitRecord } from "./records/search-result.ts";

export const eventRoutes = createRouter("Events");

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
    index_name: text("Name of the index.", "holidays"),
    asset_id: idField("asset", "Id of the asset.").optional(),
    asset_type: oneOf(ASSET_TYPES, "Kind of the asset.").optional(),
    state: oneOf(ASSET_STATES, "Step of the ingest.", "embedding").optional(),
    progress: share("Share of the ingest that is done, from 0 to 1.", 0.8).optional(),
    error: orNull(failureRecord, "Why the ingest failed; null in other states.", null).optional(),
    job_id: idField("job", "Id of the job that ingests the asset.").nullable().optional(),
    watch_id: idField("watch", "Id of the watch that has matched.").optional(),
    watch_name: text("Name of that watch.", "Red truck at the gate").optional(),
    title: text("Title of the asset, if a watch has matched.", "gate.mp4").optional(),
    total: int("Segments of the asset that match the watch.", 1).optional(),
    matches: z.array(matchedSegment).optional().describe("The best 20 of these, the best first."),
    links: z
      .object({
        asset: text(
          "Path of the asset's record.",
          "/index/holidays/video/vid_01KATN4B7Y3D5E8GHJ1K2M6P9Q",
        ),
        matches: text(
          "Path of all matches of the watch.",
          "/index/holidays/watches/wat_01KATN8K7M8N9P0Q1R2S3T4V5W/matches",
        ),
      })
      .optional()
      .describe("Paths of the API, for more."),
  })
  .describe("What changed.");

/** Data of a server-sent event and body of a webhook. */
const eventRecord = z
  .object({
    type: oneOf(EVENT_TYPES, "What happened."),
    timestamp: time("When it happened."),
    data: eventData,
  })
  .openapi("Event", { description: "A change of an index." });

const RETRY_AFTER_SECONDS = 5;

addEndpoint(eventRoutes, "GET /index/{index_name}/events", {
  operationId: "streamEvents",
  summary: "Follow the events of an index",
  description:
    "Sends every change of state and progress as a server-sent event, until the client closes " +
    "the connection or a minute has passed; then connect again. The header `Last-Event-ID` " +
    "continues after that event. An event `reset` says that some were missed: read the records.",
  headers: z.object({
    "last-event-id": text(
      "Id of the last event that was received: later ones are sent first.",
    ).optional(),
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
  async handle(c) {
    const { indexId, name } = await requireCallerIndex(c);
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
      headers: { "Content-Type": "text/event-stream; charset=utf-8" },
    });
  },
});

const secretRecord = z.object({
  secret: text("Signing secret (Standard Webhooks).", "whsec_C2FVsBQI…"),
  created_at: time("Creation of the secret."),
  expires_at: time("End of its use after a rotation; null: never.")
    .nullable()
    .openapi({ example: null }),
});

const webhookRecord = z
  .object({
    url: z
      .url()
      .describe("Where events are sent.")
      .openapi({ example: "https://hooks.your-site.dev/sightline" }),
    disabled_at: time("When the receiver answered 410, which ends the deliveries; else null.")
      .nullable()
      .openapi({ example: null }),
    secrets: list(secretRecord, "Secrets that sign each event: two for a day after a rotation."),
    deliveries: z
      .object({
        pending: countField("Deliveries that are waiting or being retried.", 0),
        delivered: countField("Deliveries that the receiver accepted.", 41),
        failed: countField("Deliveries that failed at their last attempt.", 0),
      })
      .describe("Recent deliveries by state."),
  })
  .openapi("Webhook", { description: "The webhook of an index." });

const deliveryRecord = z
  .object({
    event_id: text(
      "Id of the event, in the header `webhook-id`.",
      "evt_01KATN3V0F6Q8M2R5W7XJ9ZB4C_0000000012",
    ),
    type: z.enum(EVENT_TYPES).describe("What happened."),
    state: oneOf(["pending", "delivered", "failed"], "State of the delivery.", "delivered"),
    attempts: countField("Requests that were sent.", 1),
    status_code: int("Status of the receiver's last response; null without one.", 204).nullable(),
    error: text("What went wrong with the last attempt; null if nothing did.", null).nullable(),
    payload: eventRecord,
    created_at: time("Creation of the event."),
    next_attempt_at: time("Time of the next attempt; null if there is none.")
      .nullable()
      .openapi({ example: null }),
    ended_at: time("When it was delivered or given up; null before.").nullable(),
  })
  .openapi("Delivery", { description: "An event that is sent to a webhook." });

addEndpoint(eventRoutes, "GET /index/{index_name}/webhook", {
  operationId: "getWebhook",
  summary: "Get the webhook of an index",
  description:
    "Returns the URL, the signing secrets and the number of deliveries. `PATCH /index/{index_name}` " +
    "sets the URL, in `settings.webhook_url`. docs/events.md says how to verify a signature.",
  scope: "admin", // shows the secrets, which allow forging events
  response: webhookRecord,
  async handle(c) {
    const { object } = await requireIndexObject(c);
    return toWebhookRecord(await object.getWebhook());
  },
});

addEndpoint(eventRoutes, "POST /index/{index_name}/webhook/rotate", {
  operationId: "rotateWebhookSecret",
  summary: "Replace the signing secret",
  description:
    "Creates a new signing secret. Events are signed with both secrets for a day, so that the " +
    "receiver can change over.",
  scope: "admin",
  response: webhookRecord,
  async handle(c) {
    const { object } = await requireIndexObject(c);
    return toWebhookRecord(await object.rotateWebhookSecret(crypto.randomUUID()));
  },
});

addEndpoint(eventRoutes, "POST /index/{index_name}/webhook/test", {
  operationId: "testWebhook",
  summary: "Send a test event",
  description: "Queues an event of the type `webhook.test`, and returns its delivery.",
  errors: { conflict: "The webhook is disabled, because its receiver answered 410." },
  response: deliveryRecord,
  async handle(c) {
    const { indexId, object } = await requireIndexObject(c);
    const delivery = await object.testWebhook(crypto.randomUUID());
    if (delivery) return toDeliveryRecord(indexId, delivery);
    if (!(await object.getWebhook())) throw webhookNotFound();
    const message =
      "The webhook is disabled, because its receiver answered 410; set its URL again.";
    throw new AppError("conflict", message);
  },
});

addEndpoint(eventRoutes, "GET /index/{index_name}/webhook/deliveries", {
  operationId: "listWebhookDeliveries",
  summary: "List the deliveries of a webhook",
  description: "Lists recent deliveries with their attempts, newest first.",
  query: pageQuery,
  response: pageOf("deliveries", deliveryRecord),
  async handle(c, { query }) {
    const { indexId, object } = await requireIndexObject(c);
    const { limit, after } = pageRequest(query);
    const before = after === "" ? Number.MAX_SAFE_INTEGER : eventSeq(indexId, after);
    if (before === null) throw invalid(["query", "cursor"], "value_error", INVALID_CURSOR);
    const { deliveries, counts } = await object.listDeliveries(before, limit + 1);
    const total = counts.pending + counts.delivered + counts.failed;
    const page = toPage(deliveries, total, limit, ({ seq }) => eventId(indexId, seq));
    return pageRecord("deliveries", page, (delivery) => toDeliveryRecord(indexId, delivery));
  },
});

async function requireIndexObject(c: Context) {
  const { indexId } = await requireCallerIndex(c);
  return { indexId, object: indexObject(c.env, indexId) };
}

function webhookNotFound(): AppError {
  return new AppError("not_found", "This index has no webhook; set settings.webhook_url.");
}

/** Makes the record of a webhook. Throws `not_found` without one. */
function toWebhookRecord(state: WebhookState | null) {
  if (!state) throw webhookNotFound();
  const { secrets, counts, ...webhook } = state;
  return mapRecord(webhookRecord, webhook, {
    secrets: secrets.map((secret) => mapRecord(secretRecord, secret, {})),
    deliveries: counts,
  });
}

function toDeliveryRecord(indexId: IndexId, one: Delivery) {
  return mapRecord(deliveryRecord, one, {
    event_id: eventId(indexId, one.seq),
    state: one.phase === "delivered" || one.phase === "failed" ? one.phase : "pending",
    payload: JSON.parse(one.payload) as z.input<typeof eventRecord>,
    next_attempt_at: one.dueAt === null ? null : isoTime(one.dueAt),
  });
}
