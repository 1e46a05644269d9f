import { KEY_RECHECK_MS, KEY_USE_SAMPLE_MS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { keySecrets, type Scope, type VerifiedKey, verifyKey } from "../keys.ts";
import { admitKey, touchKey } from "../store/keys.ts";
import type { Caller } from "../types.ts";
import type { Context } from "./endpoint.ts";
import { requireRate } from "./rate-limit.ts";

interface Admission {
  revoked: boolean;
  checkedAt: number;
}

/** What this isolate knows of keys: a revocation reaches it within `KEY_RECHECK_MS`. */
const admissions = new Map<string, Admission>();
const MAX_ADMISSIONS = 10_000;

/** Requests that one which was let in makes of us, with who sent that. */
const inner = new WeakMap<Request, Caller>();

/** Lets in a request of our own making for `caller`: it isn't counted again. */
export function letIn(request: Request, caller: Caller): void {
  inner.set(request, caller);
}

/**
 * Who sends the request, by the key in its header or the one that is told. The signature is checked without a
 * database, and in constant time; D1 is asked once a key and minute. Throws `unauthorized`, `rate_limited` or
 * `forbidden` (the key lacks `scope`).
 */
export async function authenticate(
  c: Context,
  scope: Scope,
  key: string | undefined = c.req.header("x-api-key"),
): Promise<Caller> {
  const caller = inner.get(c.req.raw) ?? (await identify(c, key));
  if (!caller.scopes.includes(scope)) {
    throw new AppError("forbidden", `The API key lacks the scope "${scope}".`);
  }
  return caller;
}

async function identify(c: Context, key: string | undefined): Promise<Caller> {
  if (!key) throw new AppError("unauthorized", "Send your API key in the X-API-Key header.");
  const claims = await verifyKey(keySecrets(c.env), key);
  const admission = claims && (await admit(c, claims, KEY_RECHECK_MS));
  if (!admission || admission.revoked) throw notValid();
  await requireRate(c, claims);
  return { ...claims, isNew: admission.created };
}

/**
 * Throws `unauthorized` where the caller's key has ended since: for an answer that goes on for longer. D1 is asked
 * unless this isolate did within `withinMs`.
 */
export async function requireStillValid(c: Context, withinMs: number): Promise<void> {
  const caller = c.get("caller");
  const isOver = caller.expiresAt !== null && caller.expiresAt <= Date.now();
  if (isOver || (await admit(c, caller, withinMs)).revoked) throw notValid();
}

/** From now on this isolate refuses the key. */
export function noteRevocation(keyId: KeyId): void {
  note(keyId, { revoked: true, checkedAt: Date.now() });
}

async function admit(c: Context, key: VerifiedKey, withinMs: number) {
  const { keyId } = key;
  const now = Date.now();
  const known = admissions.get(keyId);
  if (known && (known.revoked || now - known.checkedAt < withinMs)) {
    return { ...known, created: false };
  }
  const { revoked, created } = await admitKey(c.env.DB, key, now);
  note(keyId, { revoked, checkedAt: now });
  if (!revoked) c.executionCtx.waitUntil(touchKey(c.env.DB, key, now, KEY_USE_SAMPLE_MS));
  return { revoked, created };
}

/** What is revoked stays so, whatever was read of it before. */
function note(keyId: KeyId, admission: Admission): void {
  if (admissions.get(keyId)?.revoked) return;
  if (admissions.size >= MAX_ADMISSIONS) admissions.clear();
  admissions.set(keyId, admission);
}

function notValid(): AppError {
  return new AppError("unauthorized", "The API key is not valid: unknown, expired or revoked.");
}
