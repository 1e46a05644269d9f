import { randomBytes } from "node:crypto";
import { parseSecrets } from "../src/signed-token.ts";

/*
 * Edits signing secrets in the format of `KEY_SECRETS`, `kid:base64url[,kid:base64url…]`: the first
 * signs, all verify. A new one is appended, so that it is deployed everywhere before it signs;
 * docs/operate.md#rotate-the-signing-secret has the steps.
 */

const SECRET_BYTES = 32;

/** Makes the first secret, named `k1`. */
export function createKeySecrets(): string {
  return createEntry("k1");
}

/** Appends a new secret named `k1`, `k2` and so on; its number is above all existing ones. */
export function addSecret(text: string): string {
  const numbers = listKids(text).map((kid) => Number(/^k(\d+)$/.exec(kid)?.[1] ?? 0));
  return `${text},${createEntry(`k${Math.max(...numbers) + 1}`)}`;
}

/** Moves the secret `kid` to the front. Throws if there is none of that name. */
export function useSecret(text: string, kid: string): string {
  const secret = requireEntry(text, kid);
  return [secret, ...splitEntries(text).filter((entry) => entry !== secret)].join(",");
}

/**
 * Removes the secret `kid`, which invalidates the keys it signed. Throws if it is missing or the
 * only one.
 */
export function dropSecret(text: string, kid: string): string {
  const secret = requireEntry(text, kid);
  const rest = splitEntries(text).filter((entry) => entry !== secret);
  if (rest.length === 0) throw new Error(`"${kid}" is the only secret: add another first.`);
  return rest.join(",");
}

/** Lists the names, the signing one first. Throws if the text isn't valid `KEY_SECRETS`. */
export function listKids(text: string): string[] {
  return [...parseSecrets(text).keys()];
}

function createEntry(kid: string): string {
  return `${kid}:${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

function splitEntries(text: string): string[] {
  return text.split(",").map((entry) => entry.trim());
}

function requireEntry(text: string, kid: string): string {
  const at = listKids(text).indexOf(kid);
  if (at === -1)
    throw new Error(`There is no secret "${kid}"; there are ${listKids(text).join(", ")}.`);
  return splitEntries(text)[at]!;
}
