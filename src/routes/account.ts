import { z } from "@hono/zod-openapi";
import { AppError } from "../errors.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { recordUsage } from "../http/metering.ts";
import type { AccountId } from "../ids.ts";
import { SCOPES } from "../keys.ts";
import { getAccount, getRecordBytes, updateAccount } from "../store/d1/accounts.ts";
import { listIndices } from "../store/d1/indices.ts";
import { getLimits } from "../store/d1/quotas.ts";
import { listTallies } from "../store/d1/tallies.ts";
import { listUsage, unusedDay } from "../store/d1/usage.ts";
import { countField, idField, stateCounts, time } from "./records/fields.ts";
import { isoTime, sumTallies } from "./records/index-record.ts";
import { toUsageRecord, usageRecord } from "./records/usage-record.ts";

const USAGE_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;

const limits = z
  .record(z.string(), z.number())
  .describe("Limits of the account by name: bytes, seconds, dollars or counts (docs/accounts.md).")
  .openapi({ example: { upload_bytes: 5_368_709_120, indices: 1000, requests_per_minute: 600 } });

const accountId = idField("account", "Id of the account.");

const stats = z
  .object({
    account_id: accountId,
    indices: countField("Indices of the account.", 3),
    videos: countField("Videos in all indices, in any state.", 8),
    images: countField("Images in all indices, in any state.", 5),
    segments: countField("Segments that can be searched.", 214),
    duration_seconds: z.number().describe("Duration of all videos in seconds.").openapi({
      example: 1893.4,
    }),
    size_bytes: z.int().describe("Size of all uploaded or fetched files in bytes.").openapi({
      example: 734_003_200,
    }),
    record_bytes: z
      .int()
      .describe("Bytes that the records of the account take in the database of all accounts.")
      .openapi({ example: 48_200 }),
    states: stateCounts,
    usage: z
      .object({
        today: usageRecord,
        last_30_days: z
          .array(usageRecord)
          .describe("Usage of each of the last 30 days (UTC) that has any, newest first."),
      })
      .describe("What the account used, and what that costs the deployment."),
    limits,
    generated_at: time("When the numbers were read."),
  })
  .openapi("Stats", { description: "Contents, usage, costs and limits of an account." });

const account = z
  .object({
    account_id: accountId,
    name: z.string().describe("Name of the account.").openapi({ example: "Film archive" }),
    email: z.string().nullable().describe("Address for questions; null if none was set.").openapi({
      example: "archive@your-site.dev",
    }),
    created: z.boolean().describe("True if this request created the account."),
    created_at: time("Creation of the account."),
    scopes: z
      .array(z.enum(SCOPES))
      .describe("Scopes of the API key of this request.")
      .openapi({
        example: ["read", "write"],
      }),
    limits,
  })
  .openapi("Account", { description: "The account behind an API key." });

export const accountRoutes = createRouter("Account");

const accountChange = z.object({
  name: z.string().min(1).max(200).optional().describe("New name. Needs the scope `admin`."),
  email: z.email().max(320).optional().describe("New address. Needs the scope `admin`."),
});

addEndpoint(
  accountRoutes,
  {
    method: "post",
    path: "/init",
    operationId: "initAccount",
    summary: "Get the account of the API key",
    description:
      "Creates the account at the first use, as any other operation does, and returns it with the " +
      "scopes of the API key and the limits. A changed `name` or `email` needs the scope `admin`.",
    scope: "read",
    body: accountChange,
    bodyOptional: true,
    examples: { read: { summary: "Read the account", value: {} } },
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
  {
    method: "get",
    path: "/stats",
    operationId: "getStats",
    summary: "Get statistics, usage and costs",
    description:
      "Counts the contents of all indices, and the searches, answers, model calls and estimated " +
      "costs of today and of the last 30 days.",
    scope: "read",
    response: stats,
  },
  getStats,
);

async function getStats(c: Context) {
  const { accountId } = c.get("caller");
  const now = Date.now();
  await recordUsage(c);
  const [limitFields, tallies, indices, recordBytes, usageFields] = await Promise.all([
    getLimitFields(c),
    listTallies(c.env.DB, accountId),
    listIndices(c.env.DB, accountId, { limit: 1, after: "" }),
    getRecordBytes(c.env.DB, accountId),
    getUsageFields(c.env.DB, accountId, now),
  ]);
  return {
    account_id: accountId,
    indices: indices.total,
    ...sumTallies(tallies),
    record_bytes: recordBytes,
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
