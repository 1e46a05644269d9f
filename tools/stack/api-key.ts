import { accountId, newId } from "../../src/ids.ts";
import { ACCOUNT_SCOPES, type Scope, signKey } from "../../src/keys.ts";
import { parseSecrets } from "../../src/signed-token.ts";

export interface KeyRequest {
  /** Account name; the same name is the same account. */
  account: string;
  /** Name of the key in lists. */
  name?: string;
  /** Default: those within the account. */
  scopes?: Scope[];
  /** Expiry in epoch milliseconds; null for a key that doesn't expire. */
  expiresAt?: number | null;
}

/**
 * Returns a link to the console that signs in, to an index if one is named. The hash of a URL is
 * never sent to a server.
 */
export function signInLink(url: string, key: string, index = ""): string {
  return `${url}/#key=${key}/${index}`;
}

/** Creates a key signed with the first of `keySecrets` (`kid:base64url[,…]`). Needs no database. */
export async function createKey(keySecrets: string, request: KeyRequest): Promise<string> {
  return signKey(parseSecrets(keySecrets), {
    keyId: newId("key"),
    accountId: await accountId(request.account),
    accountName: request.account,
    ...(request.name !== undefined && { keyName: request.name }),
    scopes: request.scopes ?? [...ACCOUNT_SCOPES],
    expiresAt: request.expiresAt ?? null,
  });
}
