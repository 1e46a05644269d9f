import { hash } from "@stablelib/sha256";

const LENGTH = 8;

/** Returns 8 characters that identify a JSON value: the start of the SHA-256 of its text. */
export function fingerprint(value: unknown): string {
  const digest = hash(new TextEncoder().encode(JSON.stringify(value)));
  return Buffer.from(digest).toString("base64url").slice(0, LENGTH);
}
