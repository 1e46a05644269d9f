import { z } from "@hono/zod-openapi";
import { AppError, invalid } from "../errors.ts";
import { eventId, eventSeq, type IndexId } from "../ids.ts";
import { indexObject } from "../store/index-object.ts";
import { type Delivery, EVENT_TYPES, type WebhookState } from "../types.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { eventRecord } from "./event-record.ts";
import { indexParams, isoTime, isoTimeOrNull } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { NOT_OURS, pageOf, pageQuery } from "./page.ts";

export const webhookRoutes = createRouter("Events");

const time = z.iso.datetime();

const webhookRecord = z
  .object({
    url: z.url(),
    disabled_at: time.nullable(),
    secrets: z.array(
      z.object({ secret: z.string(), created_at: time, expires_at: time.nullable() }),
    ),
    deliveries: z.object({ waiting: z.int(), delivered: z.int(), failed: z.int() }),
  })
  .openapi("Webhook");

const deliveryRecord = z
  .object({
    event_id: z.string(),
    type: z.enum(EVENT_TYPES),
    state: z.enum(["waiting", "delivered", "failed"]),
    attempts: z.int(),
    status: z.int().nullable(),
    problem: z.string().nullable(),
    payload: eventRecord,
    created_at: time,
    next_try_at: time.nullable(),
    ended_at: time.nullable(),
  })
  .openapi("Delivery");

const path = "/index/{index_name}/webhook";

/* Whoever has a secret can forge events: it takes the scope that keys are managed with. */
for (const [method, rest, summary] of [
  ["get", "", "Get Webhook"],
  ["post", "/rotate", "Rotate Webhook Secret"],
] as const) {
  addEndpoint(
    webhookRoutes,
    {
      method,
      path: `${path}${rest}`,
      summary,
      scope: "admin",
      params: indexParams,
      response: webhookRecord,
    },
    async (c, { params }) => {
      const { object } = await objectOf(c, params.index_name);
      const webhook = await (method === "get" ? object.getWebhook() : object.rotateWebhookSecret());
      if (!webhook) throw noWebhook();
      return toWebhookRecord(webhook);
    },
  );
}

addEndpoint(
  webhookRoutes,
  {
    method: "post",
    path: `${path}/test`,
    summary: "Test Webhook",
    scope: "write",
    params: indexParams,
    response: deliveryRecord,
  },
  async (c, { params }) => {
    const { indexId, object } = await objectOf(c, params.index_name);
    const delivery = await object.testWebhook();
    if (delivery) return toDeliveryRecord(indexId, delivery);
    if (!(await object.getWebhook())) throw noWebhook();
    throw new AppError(
      "conflict",
      "The webhook is disabled, because its receiver answered 410; set its URL again.",
    );
  },
);

addEndpoint(
  webhookRoutes,
  {
    method: "get",
    path: `${path}/deliveries`,
    summary: "List Webhook Deliveries",
    scope: "read",
    params: indexParams,
    query: pageQuery.extend({ cursor: z.string().refine(isEventId, NOT_OURS).optional() }),
    response: pageOf("deliveries", deliveryRecord),
  },
  async (c, { params, query }) => {
    const { indexId, object } = await objectOf(c, params.index_name);
    const { limit, cursor } = query;
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : eventSeq(indexId, cursor);
    if (before === null) {
      throw invalid(["query", "cursor"], "value_error", "The cursor is not one of ours");
    }
    const { deliveries, counts } = await object.listDeliveries(before, limit + 1);
    const page = deliveries.slice(0, limit);
    return {
      deliveries: page.map((one) => toDeliveryRecord(indexId, one)),
      total: counts.waiting + counts.delivered + counts.failed,
      next_cursor: deliveries.length > limit ? eventId(indexId, page.at(-1)!.seq) : null,
    };
  },
);

function isEventId(cursor: string): boolean {
  return /^evt_[0-9A-HJKMNP-TV-Z]{26}_\d{10,15}$/.test(cursor);
}

async function objectOf(c: Context, name: string) {
  const { indexId } = await requireOwnIndex(c, name);
  return { indexId, object: indexObject(c.env, indexId) };
}

function noWebhook(): AppError {
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
    state: one.phase === "delivered" || one.phase === "failed" ? one.phase : "waiting",
    attempts: one.attempts,
    status: one.status,
    problem: one.problem,
    payload: JSON.parse(one.payload) as z.input<typeof eventRecord>,
    created_at: isoTime(one.createdAt),
    next_try_at: isoTimeOrNull(one.dueAt),
    ended_at: isoTimeOrNull(one.endedAt),
  };
}
