import { z } from "@hono/zod-openapi";
import { AppError, invalid } from "../errors.ts";
import { newId } from "../ids.ts";
import { type KeyClaims, type Scope, SCOPES, signKey } from "../keys.ts";
import { keySecrets } from "../signed-token.ts";
import { type ApiKey, insertKey, listKeys, revokeKey } from "../store/keys.ts";
import type { Caller } from "../types.ts";
import { cacheRevocation } from "../http/authenticate.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { isoTime, isoTimeOrNull } from "./index-record.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";

/** Routes of the account's API keys (docs/accounts.md). */
export const keyRoutes = createRouter("Account");

const time = z.iso.datetime();

const keyRecord = z
  .object({
    key_id: z.string(),
    name: z.string().nullable(),
    scopes: z.array(z.enum(SCOPES)),
    is_current: z.boolean().openapi({ description: "True for the API key of this request." }),
    created_at: time,
    expires_at: time.nullable(),
    last_used_at: time.nullable(),
    revoked_at: time.nullable(),
    kid: z.string().nullable().openapi({
      description:
        "Name of the signing secret of the API key, recorded at its last use; null if unused.",
    }),
  })
  .openapi("Key");

const newKey = z.object({
  name: z.string().min(1).max(200),
  scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).optional(),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
});

addEndpoint(
  keyRoutes,
  {
    method: "post",
    path: "/keys",
    summary: "Create Key",
    scope: "admin",
    body: newKey,
    creates: "secret",
    response: keyRecord.extend({ api_key: z.string() }).openapi("CreatedKey"),
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
    summary: "List Keys",
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

const keyParams = z.object({ key_id: z.string() });

addEndpoint(
  keyRoutes,
  {
    method: "delete",
    path: "/keys/{key_id}",
    summary: "Revoke Key",
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

/** Returns the requested scopes, by default the caller's. Throws `forbidden` for any other. */
function grantedScopes({ scopes }: Caller, requested: Scope[] = scopes): Scope[] {
  const lacking = requested.find((scope) => !scopes.includes(scope));
  if (lacking === undefined) return SCOPES.filter((scope) => requested.includes(scope));
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
