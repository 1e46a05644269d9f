import { lineOfText } from "../clean-text.ts";
import { PRICES, STORAGE_PRICES } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { cacheRevocation } from "../http/authenticate.ts";
import { type Context, recordUsage } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import {
  countField,
  flag,
  idField,
  int,
  isoTime,
  list,
  number,
  stateCounts,
  text,
  time,
} from "../http/fields.ts";
import { pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import * as z from "../http/zod.ts";
import { type AccountId, newId } from "../ids.ts";
import { SCOPES, ACCOUNT_SCOPES, type KeyClaims, type Scope, signKey } from "../keys.ts";
import { keySecrets } from "../signed-token.ts";
import { getAccount, getRecordBytes, updateAccount } from "../store/d1/accounts.ts";
import { listIndices, listTallies } from "../store/d1/indices.ts";
import { type ApiKey, insertKey, listKeys, revokeKey } from "../store/d1/keys.ts";
import { getLimits } from "../store/d1/quotas.ts";
import { type Usage, listUsage, unusedDay } from "../store/d1/usage.ts";
import type { Caller } from "../types.ts";
import { sumTallies } from "./records/index-record.ts";

export const accountRoutes = createRouter("Account");

const count = (description: string, example = 0) => number(description, example);
const dollars = (description: string) => count(`US dollars for ${description}.`, 0.004);

const operations = z
  .object({
    input_tokens: count("Tokens that models read."),
    output_tokens: count("Tokens that models wrote."),
    audio_seconds: count("Seconds of audio that were transcribed."),
    frames: count("Operations of Media Transformations."),
    images: count("Transformations of Images."),
    converted_seconds: count("Seconds of video that the decoder converted."),
    dimensions_queried: count("Dimensions of the vectors by which Vectorize was queried."),
    vectors_written: count("Vectors written to Vectorize."),
    rows_read: count("Rows that D1 and objects read."),
    rows_written: count("Rows that D1 and objects wrote."),
    object_requests: count("Calls of Durable Objects."),
    bucket_reads: count("Class B operations of R2."),
    bucket_writes: count("Class A operations of R2."),
    requests: count("Requests, and messages of queues."),
    queue_operations: count("Operations of queues, three a message."),
  })
  .describe("What the platform bills, counted.");

const usageRecord = z
  .object({
    date: z.iso.date().describe("Day (UTC).").openapi({ example: "2026-11-24" }),
    searches: countField("Searches.", 120),
    answers: countField("Generated answers.", 14),
    ingested_seconds: count("Seconds of video that were ingested.", 93.4),
    ingested_images: countField("Images that were ingested.", 5),
    model_calls: countField("Calls of models.", 61),
    neurons_estimate: count("Billed unit of Workers AI, estimated by tokens and seconds.", 1250.5),
    estimated_cost_usd: count("Sum of `costs_usd`, without what a plan includes.", 0.032),
    costs_usd: z
      .object({
        models: dollars("models"),
        frames: dollars("decoding frames of videos"),
        images: dollars("scaling and masking images"),
        conversion: dollars("converting videos"),
        vectors: dollars("querying vectors"),
        databases: dollars("rows read and written"),
        files: dollars("operations on files"),
        requests: dollars("requests and messages"),
        storage: dollars("a day of what is stored"),
      })
      .describe("Estimated costs of the day by kind."),
    operations,
  })
  .openapi("Usage", { description: "What an account used on one day." });

function toUsageRecord(day: Usage): z.input<typeof usageRecord> {
  const costs: Costs = estimateCosts(day);
  return mapRecord(usageRecord, day, {
    ingested_seconds: day.ingestedMs / 1000,
    neurons_estimate: day.neurons,
    estimated_cost_usd: Object.values(costs).reduce((sum, cost) => sum + cost, 0),
    costs_usd: costs,
    operations: mapRecord(operations, day, {}),
  });
}

/** The kinds of cost, and the operations of each. What is stored is a kind of its own. */
const OPERATIONS_BY_KIND = {
  models: ["neurons"],
  frames: ["frames"],
  images: ["images"],
  conversion: ["convertedSeconds"],
  vectors: ["dimensionsQueried"],
  databases: ["rowsRead", "rowsWritten"],
  files: ["bucketReads", "bucketWrites"],
  requests: ["requests", "queueOperations", "objectRequests"],
} as const satisfies Record<string, readonly (keyof typeof PRICES)[]>;

/** Cost of a day in US dollars, by kind. */
type Costs = Record<keyof typeof OPERATIONS_BY_KIND | "storage", number>;

const DAYS_PER_MONTH = 30; // of a storage price

/** Estimates the cost of one day's usage, by kind, without what the platform's plan includes. */
function estimateCosts(usage: Usage): Costs {
  const operations = Object.entries(OPERATIONS_BY_KIND).map(([kind, names]) => {
    return [kind, names.reduce((sum, name) => sum + usage[name] * PRICES[name], 0)];
  });
  const { bucketByte, databaseByte, dimension, segment } = STORAGE_PRICES;
  const perSegment =
    segment.bucketBytes * bucketByte +
    segment.databaseBytes * databaseByte +
    segment.dimensions * dimension;
  const perMonth = usage.storedBytes * bucketByte + usage.storedSegments * perSegment;
  return { ...Object.fromEntries(operations), storage: perMonth / DAYS_PER_MONTH } as Costs;
}

const USAGE_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;

const limits = z
  .record(z.string(), z.number())
  .describe("Limits of the account by name: bytes, seconds, dollars or counts (docs/limits.md).")
  .openapi({ example: { upload_bytes: 5_368_709_120, indices: 1000, requests_per_minute: 600 } });

const accountId = idField("account", "Id of the account.");

const stats = z
  .object({
    account_id: accountId,
    indices: countField("Indices of the account.", 3),
    videos: countField("Videos in all indices, in any state.", 8),
    images: countField("Images in all indices, in any state.", 5),
    segments: countField("Segments that can be searched.", 214),
    duration_seconds: number("Duration of all videos in seconds.", 1893.4),
    size_bytes: int("Size of all uploaded or fetched files in bytes.", 734_003_200),
    record_bytes: int("Bytes of the account's records in the database of all accounts.", 48_200),
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
    name: text("Name of the account.", "Film archive"),
    email: text("Address for questions; null if none was set.", "archive@your-site.dev").nullable(),
    created: flag("True if this request created the account."),
    created_at: time("Creation of the account."),
    scopes: list(z.enum(SCOPES), "Scopes of the API key of this request.", ["read", "write"]),
    limits,
  })
  .openapi("Account", { description: "The account behind an API key." });

const accountChange = z.object({
  name: lineOfText(200).min(1).optional().describe("New name. Needs the scope `admin`."),
  email: z.email().max(320).optional().describe("New address. Needs the scope `admin`."),
});

addEndpoint(accountRoutes, "POST /init", {
  operationId: "initAccount",
  summary: "Get the account of the API key",
  description:
    "Creates the account at the first use, as any other operation does, and returns it with the " +
    "scopes of the API key and the limits. A changed `name` or `email` needs the scope `admin`.",
  scope: "read",
  body: accountChange,
  bodyOptional: true,
  examples: { "Read the account": {} },
  response: account,
  async handle(c, { body }) {
    const caller = c.get("caller");
    let row = await getAccount(c.env.DB, caller.accountId);
    if ((body.name ?? row.name) !== row.name || (body.email ?? row.email) !== row.email) {
      if (!caller.scopes.includes("admin")) {
        throw new AppError("forbidden", 'Changing the name or email needs a key with "admin".');
      }
      row = await updateAccount(c.env.DB, caller.accountId, body);
    }
    const { isNew: created, scopes } = caller;
    return mapRecord(account, row, { created, scopes, limits: await getLimitFields(c) });
  },
});

addEndpoint(accountRoutes, "GET /stats", {
  operationId: "getStats",
  summary: "Get statistics, usage and costs",
  description:
    "Counts the contents of all indices, and the searches, answers, model calls and estimated " +
    "costs of today and of the last 30 days.",
  response: stats,
  async handle(c) {
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
  },
});

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

const keyRecord = z
  .object({
    key_id: idField("key", "Id of the API key. It isn't secret."),
    name: text("Its name; null for a key of the command line without one.", "Web site").nullable(),
    scopes: list(
      z.enum(SCOPES),
      "`read` reads and searches, `write` changes indices, `admin` manages the account, " +
        "`operator` reads the state of the deployment.",
      ["read"],
    ),
    is_current: flag("True for the API key of this request."),
    created_at: time("Creation of the API key."),
    expires_at: time("End of its validity; null: never.")
      .nullable()
      .openapi({ example: "2027-11-24T09:30:00.000Z" }),
    last_used_at: time("Last use, recorded at most once a minute; null if unused.").nullable(),
    revoked_at: time("Revocation; null if it is valid.").nullable().openapi({ example: null }),
    kid: text(
      "Name of the signing secret of the API key, recorded at its last use; null if unused.",
      "2026-11",
    ).nullable(),
  })
  .openapi("Key", { description: "An API key, without its secret." });

const newKey = z.object({
  name: lineOfText(200).min(1).describe("Name to recognise the API key by."),
  scopes: z
    .array(z.enum(ACCOUNT_SCOPES))
    .min(1)
    .max(ACCOUNT_SCOPES.length)
    .optional()
    .describe("Scopes of the new API key, of those that the caller has. Default: all of these."),
  expires_at: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .describe(
      "End of its validity (RFC 3339); null: never. Not later than the caller's, which is the " +
        "default.",
    ),
});

const createdKey = keyRecord
  .extend({
    api_key: text("The API key: send it in the header X-API-Key. It isn't shown again.", "sl_AbC…"),
  })
  .openapi("CreatedKey", { description: "A new API key with its secret." });

addEndpoint(accountRoutes, "POST /keys", {
  operationId: "createKey",
  summary: "Create an API key",
  description:
    "Creates an API key of the account. The response shows it once, in `api_key`: store it " +
    "there. A key can't grant a scope or a time that it hasn't itself.",
  scope: "admin",
  errors: {
    account_full: "The account has its maximum number of valid API keys or of bytes of records.",
  },
  body: newKey,
  examples: {
    "A key that searches": { name: "Web site", scopes: ["read"] },
    "A key that expires": { name: "Import of May", expires_at: "2027-05-31T23:59:59Z" },
  },
  creates: "secret",
  response: createdKey,
  async handle(c, { body }) {
    const caller = c.get("caller");
    const { accountId, accountName } = caller;
    const now = Date.now();
    const scopes = grantedScopes(caller, body.scopes);
    const expiresAt = grantedExpiry(caller, body.expires_at, now);
    const keyId = newId("key", now);
    const claims: KeyClaims = { keyId, accountId, accountName, scopes, expiresAt };
    const key = await insertKey(c.env.DB, claims, body.name, now);
    return { ...toKeyRecord(key, caller), api_key: await signKey(keySecrets(c.env), claims) };
  },
});

addEndpoint(accountRoutes, "GET /keys", {
  operationId: "listKeys",
  summary: "List the API keys",
  description: "Lists the API keys of the account by creation, also revoked and expired ones.",
  scope: "admin",
  query: pageQuery,
  response: pageOf("keys", keyRecord),
  async handle(c, { query }) {
    const caller = c.get("caller");
    const page = await listKeys(c.env.DB, caller.accountId, pageRequest(query));
    return pageRecord("keys", page, (key) => toKeyRecord(key, caller));
  },
});

addEndpoint(accountRoutes, "DELETE /keys/{key_id}", {
  operationId: "revokeKey",
  summary: "Revoke an API key",
  description:
    "Ends the validity of an API key for good. Other locations accept it for up to a minute. A " +
    "key that is revoked already stays as it is.",
  scope: "admin",
  response: keyRecord,
  async handle(c, { params }) {
    const caller = c.get("caller");
    const key = await revokeKey(c.env.DB, caller.accountId, params.key_id, Date.now());
    cacheRevocation(key.keyId);
    return toKeyRecord(key, caller);
  },
});

/**
 * Returns the requested scopes, by default the caller's but `operator`. Throws `forbidden` for any
 * other.
 */
function grantedScopes({ scopes }: Caller, requested: Scope[] = scopes): Scope[] {
  const lacking = requested.find((scope) => !scopes.includes(scope));
  if (lacking === undefined) return ACCOUNT_SCOPES.filter((scope) => requested.includes(scope));
  const message = `This API key lacks the scope "${lacking}", and can't grant it to another key.`;
  throw new AppError("forbidden", message);
}

/**
 * Returns the expiry of a new key in epoch ms, rounded down to seconds; null: never. The default is
 * the caller's. Throws `forbidden` if it is later than the caller's.
 */
function grantedExpiry(
  { expiresAt: callerExpiresAt }: Caller,
  requested: string | null | undefined,
  now: number,
): number | null {
  if (requested === undefined) return callerExpiresAt;
  const expiresAt = requested === null ? null : Math.floor(Date.parse(requested) / 1000) * 1000;
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid(["body", "expires_at"], "value_error", "The expiry is in the past");
  }
  const isWithin = callerExpiresAt === null || (expiresAt !== null && expiresAt <= callerExpiresAt);
  if (isWithin) return expiresAt;
  const end = isoTime(callerExpiresAt);
  const message = `A key can't create another one that expires later than itself, at ${end}.`;
  throw new AppError("forbidden", message);
}

function toKeyRecord(key: ApiKey, { keyId }: Caller) {
  return mapRecord(keyRecord, key, { is_current: key.keyId === keyId });
}
