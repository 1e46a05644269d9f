import { WEBHOOKS } from "../config.ts";
import type { WebhookSecret } from "../types.ts";

const SECRET_BYTES = 32;

/**
 * Puts a new secret in front of the active ones. The previous secret stays active for another
 * `WEBHOOKS.rotatedSecretMs`, so that receivers can change over.
 */
export function withNewSecret(secrets: readonly WebhookSecret[], now: number): WebhookSecret[] {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = `whsec_${Buffer.from(bytes).toString("base64")}`;
  const endsAt = now + WEBHOOKS.rotatedSecretMs;
  const rotated = activeSecrets(secrets, now).map((active): WebhookSecret => {
    const { secret: value, createdAt, expiresAt } = active;
    return { secret: value, createdAt, expiresAt: expiresAt ?? endsAt };
  });
  return [{ secret, createdAt: now, expiresAt: null }, ...rotated].slice(0, WEBHOOKS.maxSecrets);
}

/** Lists the secrets that sign at `now`, newest first. */
export function activeSecrets(secrets: readonly WebhookSecret[], now: number): WebhookSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
}
