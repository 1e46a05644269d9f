import { z } from "@hono/zod-openapi";
import { SCOPES } from "../keys.ts";
import { AppError } from "../errors.ts";
import { getAccount, updateAccount } from "../store/accounts.ts";
import { getLimits } from "../store/quotas.ts";
import { listTallies } from "../store/tallies.ts";
import { listIndices } from "../store/indices.ts";
import { listUsage, unusedDay } from "../store/usage.ts";
import type { Context } from "../http/context.ts";
import { recordUsage } from "../http/metering.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import type { AccountId } from "../ids.ts";
import { isoTime, sumTallies } from "./index-record.ts";
import { toUsageRecord, usageRecord } from "./usage-record.ts";

const USAGE_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;

const limits = z.record(z.string(), z.number());

const stats = z
  .object({
    account_id: z.string(),
    indices: z.int(),
    videos: z.int(),
    images: z.int(),
    segments: z.int(),
    duration_seconds: z.number(),
    size_bytes: z.int(),
    states: z.object({ queued: z.int(), processing: z.int(), ready: z.int(), failed: z.int() }),
    usage: z.object({ today: usageRecord, last_30_days: z.array(usageRecord) }),
    limits,
    generated_at: z.iso.datetime(),
  })
  .openapi("Stats");

const account = z
  .object({
    account_id: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    created: z.boolean(),
    created_at: z.iso.datetime(),
    scopes: z.array(z.enum(SCOPES)),
    limits,
  })
  .openapi("Account");

export const accountRoutes = createRouter("Account");

const accountChange = z.object({
  name: z.string().min(1).max(200).optional(),
  email: z.email().max(320).optional(),
});

addEndpoint(
  accountRoutes,
  {
    method: "post",
    path: "/init",
    summary: "Init User",
    scope: "read",
    body: accountChange,
    bodyOptional: true,
    response: account,
  },
  initAccount,
);

/** Returns the account, after a change of its name or email, which needs the scope `admin`. */
async function initAccount(
  c: Context,
  { body }: Input<z.ZodObject, z.ZodObject, typeof accountChange>,
) {
  const caller = c.get("caller");
  let row = await getAccount(c.env.DB, caller.accountId);
  if ((body.name ?? row.name) !== row.name || (body.email ?? row.email) !== row.email) {
    if (!caller.scopes.includes("admin")) {
      throw new AppError("forbidden", 'Changing the name or email needs a key with "admin".');
    }
    row = await updateAccount(c.env.DB, caller.accountId, body);
  }
  return {
    account_id: row.accountId,
    name: row.name,
    email: row.email,
    created: caller.isNew,
    created_at: isoTime(row.createdAt),
    scopes: caller.scopes,
    limits: await getLimitFields(c),
  };
}

addEndpoint(
  accountRoutes,
  { method: "get", path: "/stats", summary: "Compute Stats", scope: "read", response: stats },
  getStats,
);

async function getStats(c: Context) {
  const { accountId } = c.get("caller");
  const now = Date.now();
  await recordUsage(c);
  const [limitFields, tallies, indices, usageFields] = await Promise.all([
    getLimitFields(c),
    listTallies(c.env.DB, accountId),
    listIndices(c.env.DB, accountId, { limit: 1, after: "" }),
    getUsageFields(c.env.DB, accountId, now),
  ]);
  return {
    account_id: accountId,
    indices: indices.total,
    ...sumTallies(tallies),
    usage: usageFields,
    limits: limitFields,
    generated_at: isoTime(now),
  };
}

/** Returns the usage of the last 30 days (UTC). Days without usage are left out, except today. */
async function getUsageFields(db: D1Database, accountId: AccountId, now: number) {
  const today = isoTime(now).slice(0, 10);
  const firstDay = isoTime(now - (USAGE_DAYS - 1) * DAY_MS).slice(0, 10);
  const days = await listUsage(db, accountId, firstDay);
  return {
    today: toUsageRecord(days.find(({ date }) => date === today) ?? unusedDay(today)),
    last_30_days: days.map(toUsageRecord),
  };
}

/** Returns the limits of the caller's account and its request rates. */
async function getLimitFields(c: Context): Promise<Record<string, number>> {
  return {
    ...(await getLimits(c.env.DB, c.get("caller").accountId)),
    requests_per_minute: Number(c.env.KEY_RATE),
    account_requests_per_minute: Number(c.env.ACCOUNT_RATE),
  };
}
