import { z } from "@hono/zod-openapi";
import { AppError, invalid } from "../errors.ts";
import { newId } from "../ids.ts";
import { keySecrets, type KeyClaims, type Scope, SCOPES, signKey } from "../keys.ts";
import { type ApiKey, insertKey, listKeys, revokeKey } from "../store/keys.ts";
import type { Caller } from "../types.ts";
import { noteRevocation } from "./authenticate.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { isoTime, isoTimeOrNull } from "./index-record.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";

/** The account's API keys: whom they let in is docs/accounts.md's to tell. */
export const keyRoutes = createRouter("Account");

const time = z.iso.datetime();

const keyRecord = z
  .object({
    key_id: z.string(),
    name: z.string().nullable(),
    scopes: z.array(z.enum(SCOPES)),
    is_own: z.boolean().openapi({ description: "It is the key of this request." }),
    created_at: time,
    expires_at: time.nullable(),
    last_used_at: time.nullable(),
    revoked_at: time.nullable(),
    signed_with: z
      .string()
      .nullable()
      .openapi({ description: "The name of its signing secret, as of its last use." }),
  })
  .openapi("Key");

addEndpoint(
  keyRoutes,
  {
    method: "post",
    path: "/keys",
    summary: "Create Key",
    scope: "admin",
    body: z.object({
      name: z.string().min(1).max(200),
      scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).optional(),
      expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
    }),
    adds: "secret",
    response: keyRecord.extend({ api_key: z.string() }).openapi("CreatedKey"),
  },
  async (c, { body }) => {
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
);

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
  async (c, { query }) => {
    const caller = c.get("caller");
    const page = await listKeys(c.env.DB, caller.accountId, pageRequest(query));
    return {
      keys: page.items.map((key) => toKeyRecord(key, caller)),
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);

addEndpoint(
  keyRoutes,
  {
    method: "delete",
    path: "/keys/{key_id}",
    summary: "Revoke Key",
    scope: "admin",
    params: z.object({ key_id: z.string() }),
    response: keyRecord,
  },
  async (c, { params }) => {
    const caller = c.get("caller");
    const key = await revokeKey(c.env.DB, caller.accountId, params.key_id, Date.now());
    noteRevocation(key.keyId);
    return toKeyRecord(key, caller);
  },
);

/** Of the scopes that a key may give on, those that are wanted: all, where none are named. */
function grantedScopes({ scopes }: Caller, wanted: Scope[] = scopes): Scope[] {
  const lacking = wanted.find((scope) => !scopes.includes(scope));
  if (lacking === undefined) return SCOPES.filter((scope) => wanted.includes(scope));
  throw new AppError("forbidden", `A key can't grant the scope "${lacking}", which it lacks.`);
}

/** Epoch ms, whole seconds; null: it doesn't end. A key ends no later than the one that made it. */
function grantedExpiry(
  { expiresAt: own }: Caller,
  wanted: string | null | undefined,
  now: number,
): number | null {
  if (wanted === undefined) return own;
  const expiresAt = wanted === null ? null : Math.floor(Date.parse(wanted) / 1000) * 1000;
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid(["body", "expires_at"], "value_error", "The key would have ended already");
  }
  if (own === null || (expiresAt !== null && expiresAt <= own)) return expiresAt;
  const message = `A key can't grant a longer life than its own, which ends at ${isoTime(own)}.`;
  throw new AppError("forbidden", message);
}

function toKeyRecord(key: ApiKey, { keyId }: Caller): z.input<typeof keyRecord> {
  return {
    key_id: key.keyId,
    name: key.name,
    scopes: key.scopes,
    is_own: key.keyId === keyId,
    created_at: isoTime(key.createdAt),
    expires_at: isoTimeOrNull(key.expiresAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    signed_with: key.signedWith,
  };
}
