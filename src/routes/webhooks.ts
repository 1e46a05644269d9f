import { z } from "@hono/zod-openapi";
import { AppError, invalid } from "../errors.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { INVALID_CURSOR, pageOf, pageQuery } from "../http/pagination.ts";
import { eventId, eventSeq, type IndexId } from "../ids.ts";
import { indexObject } from "../store/index-object.ts";
import { type Delivery, EVENT_TYPES, type WebhookState } from "../types.ts";
import { eventRecord } from "./records/event-record.ts";
import { countField, time } from "./records/fields.ts";
import { indexParams, isoTime, isoTimeOrNull } from "./records/index-record.ts";

export const webhookRoutes = createRouter("Events");

const webhookRecord = z
  .object({
    url: z
      .url()
      .describe("Where events are sent.")
      .openapi({ example: "https://hooks.your-site.dev/sightline" }),
    disabled_at: time("When the receiver answered 410, which ends the deliveries; else null.")
      .nullable()
      .openapi({ example: null }),
    secrets: z
      .array(
        z.object({
          secret: z.string().describe("Signing secret (Standard Webhooks).").openapi({
            example: "whsec_C2FVsBQI…",
          }),
          created_at: time("Creation of the secret."),
          expires_at: time("End of its use after a rotation; null: never.")
            .nullable()
            .openapi({ example: null }),
        }),
      )
      .describe("Secrets that sign each event: two for a day after a rotation."),
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
    event_id: z
      .string()
      .describe("Id of the event, in the header `webhook-id`.")
      .openapi({ example: "evt_01KATN3V0F6Q8M2R5W7XJ9ZB4C_0000000012" }),
    type: z.enum(EVENT_TYPES).describe("What happened."),
    state: z
      .enum(["pending", "delivered", "failed"])
      .describe("State of the delivery.")
      .openapi({ example: "delivered" }),
    attempts: countField("Requests that were sent.", 1),
    status_code: z
      .int()
      .nullable()
      .describe("Status of the receiver's last response; null without one.")
      .openapi({ example: 204 }),
    error: z
      .string()
      .nullable()
      .describe("What went wrong with the last attempt; null if nothing did.")
      .openapi({ example: null }),
    payload: eventRecord,
    created_at: time("Creation of the event."),
    next_attempt_at: time("Time of the next attempt; null if there is none.")
      .nullable()
      .openapi({ example: null }),
    ended_at: time("When it was delivered or given up; null before.").nullable(),
  })
  .openapi("Delivery", { description: "An event that is sent to a webhook." });

addEndpoint(
  webhookRoutes,
  {
    method: "get",
    path: "/index/{index_name}/webhook",
    operationId: "getWebhook",
    summary: "Get the webhook of an index",
    description:
      "Returns the URL, the signing secrets and the number of deliveries. `PATCH /index/{index_name}` " +
      "sets the URL, in `settings.webhook_url`. docs/webhooks.md says how to verify a signature.",
    scope: "admin", // shows the secrets, which allow forging events
    params: indexParams,
    response: webhookRecord,
  },
  getWebhook,
);

async function getWebhook(c: Context, { params }: Input<typeof indexParams>) {
  const { object } = await requireIndexObject(c, params.index_name);
  const webhook = await object.getWebhook();
  if (!webhook) throw webhookNotFound();
  return toWebhookRecord(webhook);
}

addEndpoint(
  webhookRoutes,
  {
    method: "post",
    path: "/index/{index_name}/webhook/rotate",
    operationId: "rotateWebhookSecret",
    summary: "Replace the signing secret",
    description:
      "Creates a new signing secret. Events are signed with both secrets for a day, so that the " +
      "receiver can change over.",
    scope: "admin",
    params: indexParams,
    response: webhookRecord,
  },
  rotateWebhookSecret,
);

async function rotateWebhookSecret(c: Context, { params }: Input<typeof indexParams>) {
  const { object } = await requireIndexObject(c, params.index_name);
  const webhook = await object.rotateWebhookSecret();
  if (!webhook) throw webhookNotFound();
  return toWebhookRecord(webhook);
}

addEndpoint(
  webhookRoutes,
  {
    method: "post",
    path: "/index/{index_name}/webhook/test",
    operationId: "testWebhook",
    summary: "Send a test event",
    description: "Queues an event of the type `webhook.test`, and returns its delivery.",
    errors: { conflict: "The webhook is disabled, because its receiver answered 410." },
    scope: "write",
    params: indexParams,
    response: deliveryRecord,
  },
  testWebhook,
);

async function testWebhook(c: Context, { params }: Input<typeof indexParams>) {
  const { indexId, object } = await requireIndexObject(c, params.index_name);
  const delivery = await object.testWebhook();
  if (delivery) return toDeliveryRecord(indexId, delivery);
  if (!(await object.getWebhook())) throw webhookNotFound();
  const message = "The webhook is disabled, because its receiver answered 410; set its URL again.";
  throw new AppError("conflict", message);
}

const deliveriesQuery = pageQuery.extend({
  cursor: z
    .string()
    .refine(isEventId, INVALID_CURSOR)
    .optional()
    .describe("`next_cursor` of the previous page. Without it, the first page is returned."),
});

addEndpoint(
  webhookRoutes,
  {
    method: "get",
    path: "/index/{index_name}/webhook/deliveries",
    operationId: "listWebhookDeliveries",
    summary: "List the deliveries of a webhook",
    description: "Lists recent deliveries with their attempts, newest first.",
    scope: "read",
    params: indexParams,
    query: deliveriesQuery,
    response: pageOf("deliveries", deliveryRecord),
  },
  listWebhookDeliveries,
);

async function listWebhookDeliveries(
  c: Context,
  { params, query: { limit, cursor } }: Input<typeof indexParams, typeof deliveriesQuery>,
) {
  const { indexId, object } = await requireIndexObject(c, params.index_name);
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : eventSeq(indexId, cursor);
  if (before === null) throw invalid(["query", "cursor"], "value_error", INVALID_CURSOR);
  const { deliveries, counts } = await object.listDeliveries(before, limit + 1);
  const page = deliveries.slice(0, limit);
  return {
    deliveries: page.map((delivery) => toDeliveryRecord(indexId, delivery)),
    total: counts.pending + counts.delivered + counts.failed,
    next_cursor: deliveries.length > limit ? eventId(indexId, page.at(-1)!.seq) : null,
  };
}

function isEventId(cursor: string): boolean {
  return /^evt_[0-9A-HJKMNP-TV-Z]{26}_\d{10,15}$/.test(cursor);
}

async function requireIndexObject(c: Context, name: string) {
  const { indexId } = await requireCallerIndex(c, name);
  return { indexId, object: indexObject(c.env, indexId) };
}

function webhookNotFound(): AppError {
  return new AppError("not_found", "This index has no webhook; set settings.webhook_url.");
}

function toWebhookRecord(webhook: WebhookState): z.input<typeof webhookRecord> {
  return {
    url: webhook.url,
    disabled_at: isoTimeOrNull(webhook.disabledAt),
    secrets: webhook.secrets.map(({ secret, createdAt, expiresAt }) => ({
      secret,
      created_at: isoTime(createdAt),
      expires_at: isoTimeOrNull(expiresAt),
    })),
    deliveries: webhook.counts,
  };
}

function toDeliveryRecord(indexId: IndexId, one: Delivery): z.input<typeof deliveryRecord> {
  return {
    event_id: eventId(indexId, one.seq),
    type: one.type,
    state: one.phase === "delivered" || one.phase === "failed" ? one.phase : "pending",
    attempts: one.attempts,
    status_code: one.statusCode,
    error: one.error,
    payload: JSON.parse(one.payload) as z.input<typeof eventRecord>,
    created_at: isoTime(one.createdAt),
    next_attempt_at: isoTimeOrNull(one.dueAt),
    ended_at: isoTimeOrNull(one.endedAt),
  };
}
