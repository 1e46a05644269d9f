import { z } from "@hono/zod-openapi";
import { AppError, invalid } from "../errors.ts";
import { cacheRevocation } from "../http/authenticate.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { newId } from "../ids.ts";
import { ACCOUNT_SCOPES, type KeyClaims, type Scope, SCOPES, signKey } from "../keys.ts";
import { keySecrets } from "../signed-token.ts";
import { type ApiKey, insertKey, listKeys, revokeKey } from "../store/d1/keys.ts";
import type { Caller } from "../types.ts";
import { idField, time } from "./records/fields.ts";
import { isoTime, isoTimeOrNull } from "./records/index-record.ts";

/** Routes of the account's API keys (docs/accounts.md). */
export const keyRoutes = createRouter("Account");

const keyRecord = z
  .object({
    key_id: idField("key", "Id of the API key. It isn't secret."),
    name: z
      .string()
      .nullable()
      .describe("Name that was given; null for a key of the command line without one.")
      .openapi({ example: "Web site" }),
    scopes: z
      .array(z.enum(SCOPES))
      .describe(
        "`read` reads and searches, `write` changes indices, `admin` manages the account, " +
          "`operator` reads the state of the deployment.",
      )
      .openapi({ example: ["read"] }),
    is_current: z.boolean().describe("True for the API key of this request."),
    created_at: time("Creation of the API key."),
    expires_at: time("End of its validity; null: never.")
      .nullable()
      .openapi({ example: "2027-11-24T09:30:00.000Z" }),
    last_used_at: time("Last use, recorded at most once a minute; null if unused.").nullable(),
    revoked_at: time("Revocation; null if it is valid.").nullable().openapi({ example: null }),
    kid: z
      .string()
      .nullable()
      .describe(
        "Name of the signing secret of the API key, recorded at its last use; null if unused.",
      )
      .openapi({ example: "2026-11" }),
  })
  .openapi("Key", { description: "An API key, without its secret." });

const newKey = z.object({
  name: z.string().min(1).max(200).describe("Name to recognise the API key by."),
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
    api_key: z
      .string()
      .describe("The API key: send it in the header X-API-Key. It isn't shown again.")
      .openapi({ example: "sl_AbC…" }),
  })
  .openapi("CreatedKey", { description: "A new API key with its secret." });

addEndpoint(
  keyRoutes,
  {
    method: "post",
    path: "/keys",
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
      search: { summary: "A key that searches", value: { name: "Web site", scopes: ["read"] } },
      expiring: {
        summary: "A key that expires",
        value: { name: "Import of May", expires_at: "2027-05-31T23:59:59Z" },
      },
    },
    creates: "secret",
    response: createdKey,
  },
  createKey,
);

async function createKey(c: Context, { body }: Input<z.ZodObject, z.ZodObject, typeof newKey>) {
  const caller = c.get("caller");
  const { accountId, accountName } = caller;
  const now = Date.now();
  const scopes = grantedScopes(caller, body.scopes);
  const expiresAt = grantedExpiry(caller, body.expires_at, now);
  const keyId = newId("key", now);
  const claims: KeyClaims = { keyId, accountId, accountName, scopes, expiresAt };
  const key = await insertKey(c.env.DB, claims, body.name, now);
  return { ...toKeyRecord(key, caller), api_key: await signKey(keySecrets(c.env), claims) };
}

addEndpoint(
  keyRoutes,
  {
    method: "get",
    path: "/keys",
    operationId: "listKeys",
    summary: "List the API keys",
    description: "Lists the API keys of the account by creation, also revoked and expired ones.",
    scope: "admin",
    query: pageQuery,
    response: pageOf("keys", keyRecord),
  },
  listCallerKeys,
);

async function listCallerKeys(c: Context, { query }: Input<z.ZodObject, typeof pageQuery>) {
  const caller = c.get("caller");
  const page = await listKeys(c.env.DB, caller.accountId, pageRequest(query));
  const keys = page.items.map((key) => toKeyRecord(key, caller));
  return { keys, total: page.total, next_cursor: nextCursor(page) };
}

const keyParams = z.object({ key_id: idField("key", "Id of the API key.") });

addEndpoint(
  keyRoutes,
  {
    method: "delete",
    path: "/keys/{key_id}",
    operationId: "revokeKey",
    summary: "Revoke an API key",
    description:
      "Ends the validity of an API key for good. Other locations accept it for up to a minute. A " +
      "key that is revoked already stays as it is.",
    scope: "admin",
    params: keyParams,
    response: keyRecord,
  },
  revokeCallerKey,
);

async function revokeCallerKey(c: Context, { params }: Input<typeof keyParams>) {
  const caller = c.get("caller");
  const key = await revokeKey(c.env.DB, caller.accountId, params.key_id, Date.now());
  cacheRevocation(key.keyId);
  return toKeyRecord(key, caller);
}

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

function toKeyRecord(key: ApiKey, { keyId }: Caller): z.input<typeof keyRecord> {
  return {
    key_id: key.keyId,
    name: key.name,
    scopes: key.scopes,
    is_current: key.keyId === keyId,
    created_at: isoTime(key.createdAt),
    expires_at: isoTimeOrNull(key.expiresAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    kid: key.kid,
  };
}
