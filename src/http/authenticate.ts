import { KEY_RECHECK_MS, KEY_USE_SAMPLE_MS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { remember } from "../isolate-memory.ts";
import { type Scope, type VerifiedKey, verifyKey } from "../keys.ts";
import { log } from "../log.ts";
import { keySecrets } from "../signed-token.ts";
import { admitKey, isKnownKey, touchKey } from "../store/d1/keys.ts";
import { nearestReplica } from "../store/sql.ts";
import type { Caller } from "../types.ts";
import type { Context } from "./context.ts";
import { requireRate } from "./rate-limit.ts";

interface KeyStatus {
  revoked: boolean;
  checkedAt: number;
}

/** Statuses of keys, cached per isolate. A revocation takes effect within `KEY_RECHECK_MS`. */
const keyStatuses = remember(new Map<string, KeyStatus>());
const MAX_KEY_STATUSES = 10_000;

/** Requests that the Worker makes to itself for an authenticated caller. */
const internalCallers = new WeakMap<Request, Caller>();

/** Authenticates an internal request as `caller`. It isn't counted against the rate limits. */
export function authenticateAs(request: Request, caller: Caller): void {
  internalCallers.set(request, caller);
}

/**
 * Returns the caller of a request by its API key, which is read from `X-API-Key` unless given. The
 * signature is checked in constant time and without a database. Once per key and minute the nearest
 * replica of D1 admits the key, and the primary confirms that after the response. Throws
 * `unauthorized`, `rate_limited` or `forbidden` (the key lacks `scope`).
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
  if (!key) {
    const other = c.req.header("authorization") === undefined ? "" : ", not in Authorization";
    throw new AppError("unauthorized", `Send your API key in the X-API-Key header${other}.`);
  }
  const claims = await verifyKey(keySecrets(c.env), key);
  const status = claims && (await getKeyStatus(c, claims));
  if (!status || status.revoked) throw invalidKey();
  await requireRate(c, claims);
  return { ...claims, isNew: status.created };
}

/**
 * Throws `unauthorized` if the caller's key has expired or was revoked since the request began.
 * Long responses call this. Queries D1's primary unless the key was checked in the last `withinMs`.
 */
export async function revalidateKey(c: Context, withinMs: number): Promise<void> {
  const caller = c.get("caller");
  const isExpired = caller.expiresAt !== null && caller.expiresAt <= Date.now();
  if (isExpired) throw invalidKey();
  const { revoked } = getCachedStatus(caller.keyId, withinMs) ?? (await admit(c, caller));
  if (revoked) throw invalidKey();
}

/** Marks a key as revoked in this isolate's cache, with immediate effect. */
export function cacheRevocation(keyId: KeyId): void {
  cacheStatus(keyId, { revoked: true, checkedAt: Date.now() });
}

/**
 * Returns the status of a key, which a replica can only admit: if it doesn't, the primary decides.
 */
async function getKeyStatus(c: Context, key: VerifiedKey) {
  const cached = getCachedStatus(key.keyId, KEY_RECHECK_MS);
  if (cached) return { revoked: cached.revoked, created: false };
  const now = Date.now();
  if (!(await isKnownKey(nearestReplica(c.env.DB), key.keyId))) return admit(c, key);
  cacheStatus(key.keyId, { revoked: false, checkedAt: now });
  c.executionCtx.waitUntil(confirm(c, key, now));
  return { revoked: false, created: false };
}

function getCachedStatus(keyId: KeyId, withinMs: number): KeyStatus | null {
  const cached = keyStatuses.get(keyId);
  const isFresh = cached && (cached.revoked || Date.now() - cached.checkedAt < withinMs);
  return isFresh ? cached : null;
}

/** Admits a key in the primary, which creates its account if it is new. */
async function admit(c: Context, key: VerifiedKey) {
  const now = Date.now();
  const { revoked, created } = await admitKey(c.env.DB, key, now);
  cacheStatus(key.keyId, { revoked, checkedAt: now });
  if (!revoked) c.executionCtx.waitUntil(confirm(c, key, now));
  return { revoked, created };
}

/** Records the use of a key in the primary, and caches whether it was revoked. */
async function confirm(c: Context, key: VerifiedKey, now: number): Promise<void> {
  try {
    const revoked = await touchKey(c.env.DB, key, now, KEY_USE_SAMPLE_MS);
    cacheStatus(key.keyId, { revoked, checkedAt: now });
  } catch (error) {
    log("warn", "auth.key_unconfirmed", { cause: traceOf(error) });
  }
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
