import { KEY_RECHECK_MS, KEY_USE_SAMPLE_MS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { keySecrets, type Scope, type VerifiedKey, verifyKey } from "../keys.ts";
import { admitKey, touchKey } from "../store/keys.ts";
import type { Caller } from "../types.ts";
import type { Context } from "./context.ts";
import { requireRate } from "./rate-limit.ts";

interface KeyStatus {
  revoked: boolean;
  checkedAt: number;
}

/** Statuses of keys, cached per isolate. A revocation takes effect within `KEY_RECHECK_MS`. */
const keyStatuses = new Map<string, KeyStatus>();
const MAX_KEY_STATUSES = 10_000;

/** Requests that the Worker makes to itself for an authenticated caller. */
const internalCallers = new WeakMap<Request, Caller>();

/** Authenticates an internal request as `caller`. It isn't counted against the rate limits. */
export function authenticateAs(request: Request, caller: Caller): void {
  internalCallers.set(request, caller);
}

/**
 * Returns the caller of a request by its API key, which is read from `X-API-Key` unless given. The
 * signature is checked in constant time and without a database; D1 is queried once per key and
 * minute. Throws `unauthorized`, `rate_limited` or `forbidden` (the key lacks `scope`).
 */
export async function authenticate(
  c: Context,
  scope: Scope,
  key: string | undefined = c.req.header("x-api-key"),
): Promise<Caller> {
  const caller = internalCallers.get(c.req.raw) ?? (await identify(c, key));
  if (!caller.scopes.includes(scope)) {
    throw new AppError("forbidden", `The API key lacks the scope "${scope}".`);
  }
  return caller;
}

async function identify(c: Context, key: string | undefined): Promise<Caller> {
  if (!key) throw new AppError("unauthorized", "Send your API key in the X-API-Key header.");
  const claims = await verifyKey(keySecrets(c.env), key);
  const status = claims && (await getKeyStatus(c, claims, KEY_RECHECK_MS));
  if (!status || status.revoked) throw invalidKey();
  await requireRate(c, claims);
  return { ...claims, isNew: status.created };
}

/**
 * Throws `unauthorized` if the caller's key has expired or was revoked since the request began.
 * Long responses call this. Queries D1 unless this isolate did within the last `withinMs`.
 */
export async function revalidateKey(c: Context, withinMs: number): Promise<void> {
  const caller = c.get("caller");
  const isExpired = caller.expiresAt !== null && caller.expiresAt <= Date.now();
  if (isExpired || (await getKeyStatus(c, caller, withinMs)).revoked) throw invalidKey();
}

/** Marks a key as revoked in this isolate's cache, with immediate effect. */
export function cacheRevocation(keyId: KeyId): void {
  cacheStatus(keyId, { revoked: true, checkedAt: Date.now() });
}

async function getKeyStatus(c: Context, key: VerifiedKey, withinMs: number) {
  const { keyId } = key;
  const now = Date.now();
  const cached = keyStatuses.get(keyId);
  if (cached && (cached.revoked || now - cached.checkedAt < withinMs)) {
    return { ...cached, created: false };
  }
  const { revoked, created } = await admitKey(c.env.DB, key, now);
  cacheStatus(keyId, { revoked, checkedAt: now });
  if (!revoked) c.executionCtx.waitUntil(touchKey(c.env.DB, key, now, KEY_USE_SAMPLE_MS));
  return { revoked, created };
}

/** Caches a key's status. A revoked key stays revoked: an older read can't overwrite it. */
function cacheStatus(keyId: KeyId, status: KeyStatus): void {
  if (keyStatuses.get(keyId)?.revoked) return;
  if (keyStatuses.size >= MAX_KEY_STATUSES) keyStatuses.clear();
  keyStatuses.set(keyId, status);
}

function invalidKey(): AppError {
  return new AppError("unauthorized", "The API key is not valid: unknown, expired or revoked.");
}
