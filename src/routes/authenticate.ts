import { KEY_RECHECK_MS, keySecrets } from "../config.ts";
import { AppError } from "../errors.ts";
import { type KeyClaims, type Scope, verifyKey } from "../keys.ts";
import { admitKey } from "../store/accounts.ts";
import type { Caller } from "../types.ts";
import type { Context } from "./endpoint.ts";

interface Admission {
  revoked: boolean;
  checkedAt: number;
}

/** What this isolate knows of keys: a revocation reaches it within `KEY_RECHECK_MS`. */
const admissions = new Map<string, Admission>();
const MAX_ADMISSIONS = 10_000;

/**
 * Who sends the request. The signature is checked without a database; D1 is asked once a key and
 * minute. Throws `unauthorized`, `forbidden` (the key lacks `scope`) or `rate_limited`.
 */
export async function authenticate(c: Context, scope: Scope): Promise<Caller> {
  const key = c.req.header("x-api-key");
  if (!key) throw new AppError("unauthorized", "Send your API key in the X-API-Key header.");
  const claims = await verifyKey(keySecrets(c.env), key);
  const admission = claims && (await admit(c.env.DB, claims));
  if (!admission || admission.revoked) {
    throw new AppError("unauthorized", "The API key is not valid: unknown, expired or revoked.");
  }
  const { success } = await c.env.RATE_LIMIT.limit({ key: claims.keyId });
  if (!success) {
    const options = { retryAfter: 60 };
    throw new AppError("rate_limited", "Too many requests with this key; wait a minute.", options);
  }
  if (!claims.scopes.includes(scope)) {
    throw new AppError("forbidden", `The API key lacks the scope "${scope}".`);
  }
  const { accountId, keyId, scopes } = claims;
  return { accountId, keyId, scopes, isNew: admission.created };
}

async function admit(db: D1Database, claims: KeyClaims) {
  const now = Date.now();
  const known = admissions.get(claims.keyId);
  if (known && now - known.checkedAt < KEY_RECHECK_MS) return { ...known, created: false };
  const { revoked, created } = await admitKey(db, claims, now);
  if (admissions.size >= MAX_ADMISSIONS) admissions.clear();
  admissions.set(claims.keyId, { revoked, checkedAt: now });
  return { revoked, created };
}
