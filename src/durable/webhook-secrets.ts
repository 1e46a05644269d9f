import { WEBHOOKS } from "../config.ts";
import type { WebhookSecret } from "../types.ts";

const SECRET_BYTES = 32;

/**
 * A new secret in front of those that still sign: the one before for another `WEBHOOKS.oldSecretMs`, so that
 * receivers can change over.
 */
export function withNewSecret(secrets: readonly WebhookSecret[], now: number): WebhookSecret[] {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = `whsec_${Buffer.from(bytes).toString("base64")}`;
  const endsAt = now + WEBHOOKS.oldSecretMs;
  const old = signing(secrets, now).map((one): WebhookSecret => {
    return { secret: one.secret, createdAt: one.createdAt, expiresAt: one.expiresAt ?? endsAt };
  });
  return [{ secret, createdAt: now, expiresAt: null }, ...old].slice(0, WEBHOOKS.secrets);
}

/** Those that sign at `now`, the newest first. */
export function signing(secrets: readonly WebhookSecret[], now: number): WebhookSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
}
