import { z } from "@hono/zod-openapi";
import { AppError, invalid } from "../errors.ts";
import { eventId, eventSeq, type IndexId } from "../ids.ts";
import { indexObject } from "../store/index-object.ts";
import { type Delivery, EVENT_TYPES, type WebhookState } from "../types.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { eventRecord } from "./event-record.ts";
import { indexParams, isoTime, isoTimeOrNull } from "./index-record.ts";
import { requireCallerIndex } from "./indices.ts";
import { INVALID_CURSOR, pageOf, pageQuery } from "../http/pagination.ts";

export const webhookRoutes = createRouter("Events");

const time = z.iso.datetime();

const webhookRecord = z
  .object({
    url: z.url(),
    disabled_at: time.nullable(),
    secrets: z.array(
      z.object({ secret: z.string(), created_at: time, expires_at: time.nullable() }),
    ),
    deliveries: z.object({ pending: z.int(), delivered: z.int(), failed: z.int() }),
  })
  .openapi("Webhook");

const deliveryRecord = z
  .object({
    event_id: z.string(),
    type: z.enum(EVENT_TYPES),
    state: z.enum(["pending", "delivered", "failed"]),
    attempts: z.int(),
    status_code: z.int().nullable(),
    error: z.string().nullable(),
    payload: eventRecord,
    created_at: time,
    next_attempt_at: time.nullable(),
    ended_at: time.nullable(),
  })
  .openapi("Delivery");

addEndpoint(
  webhookRoutes,
  {
    method: "get",
    path: "/index/{index_name}/webhook",
    summary: "Get Webhook",
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
    summary: "Rotate Webhook Secret",
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
    summary: "Test Webhook",
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
  cursor: z.string().refine(isEventId, INVALID_CURSOR).optional(),
});

addEndpoint(
  webhookRoutes,
  {
    method: "get",
    path: "/index/{index_name}/webhook/deliveries",
    summary: "List Webhook Deliveries",
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
  if (before === null) throw invalid(["query", "cursor"], "value_error", INVALID_CURSOR.message);
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
