import { accountId, newId } from "../../src/ids.ts";
import { parseSecrets, type Scope, SCOPES, signKey } from "../../src/keys.ts";

export interface KeyRequest {
  /** Name of the account; the same name is the same account. */
  account: string;
  scopes?: Scope[];
  /** Epoch ms; null for a key that doesn't expire. */
  expiresAt?: number | null;
}

/** A key signed with the first of `keySecrets` (`kid:base64url[,…]`). Needs no database. */
export async function createKey(keySecrets: string, request: KeyRequest): Promise<string> {
  return signKey(parseSecrets(keySecrets), {
    keyId: newId("key"),
    accountId: await accountId(request.account),
    accountName: request.account,
    scopes: request.scopes ?? [...SCOPES],
    expiresAt: request.expiresAt ?? null,
  });
}
