import { randomBytes } from "node:crypto";
import { parseSecrets } from "../src/keys.ts";

/*
 * Signing secrets as `KEY_SECRETS` has them, `kid:base64url[,kid:base64url…]`: the first signs, all verify. A new
 * one is added at the end, so that it is known everywhere before it signs; docs/operate.md has the steps.
 */

const SECRET_BYTES = 32;

/** With a new one at the end, `k1`, `k2` and so on; a name that was there before is not given again. */
export function addSecret(text: string): string {
  const numbers = kidsOf(text).map((kid) => Number(/^k(\d+)$/.exec(kid)?.[1] ?? 0));
  const kid = `k${Math.max(...numbers) + 1}`;
  return `${text},${kid}:${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** With `kid` in front. Throws where there is none of that name. */
export function useSecret(text: string, kid: string): string {
  const own = entryOf(text, kid);
  return [own, ...entriesOf(text).filter((entry) => entry !== own)].join(",");
}

/** Without `kid`: every key that it signed ends. Throws where it is not there, or the only one. */
export function dropSecret(text: string, kid: string): string {
  const own = entryOf(text, kid);
  const rest = entriesOf(text).filter((entry) => entry !== own);
  if (rest.length === 0) throw new Error(`"${kid}" is the only secret: add another first.`);
  return rest.join(",");
}

/** Names, the one that signs first. Throws where the text isn't as `KEY_SECRETS` is. */
export function kidsOf(text: string): string[] {
  return [...parseSecrets(text).keys()];
}

function entriesOf(text: string): string[] {
  return text.split(",").map((entry) => entry.trim());
}

function entryOf(text: string, kid: string): string {
  const at = kidsOf(text).indexOf(kid);
  if (at === -1)
    throw new Error(`There is no secret "${kid}"; there are ${kidsOf(text).join(", ")}.`);
  return entriesOf(text)[at]!;
}
