import { env } from "cloudflare:workers";
import { base64url } from "jose";
import { newId } from "../../src/ids.ts";
import { SCOPES, signKey, verifyKey } from "../../src/keys.ts";
import { parseSecrets, SIGNATURE_CHARACTERS } from "../../src/signed-token.ts";
import { Client, newClient } from "./client.ts";
import { run } from "./store-queries.ts";

/** Returns a key of the client's account, signed by another secret that is named `kid`. */
export async function newKeySignedBy(kid: string, client: Client): Promise<Client> {
  const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
  const { account_id: accountId } = await client.json("POST", "/init");
  const keyId = newId("key");
  const claims = { keyId, accountId, accountName: "x", scopes: [...SCOPES], expiresAt: null };
  return new Client(await signKey(parseSecrets(`${kid}:${secret}`), claims));
}

/** Returns a key with the claims of one client and the signature of another. */
export function spliceSignature(client: Client, other: Client): Client {
  return new Client(
    client.key.slice(0, -SIGNATURE_CHARACTERS) + other.key.slice(-SIGNATURE_CHARACTERS),
  );
}

export function removeSignature(client: Client): Client {
  return new Client(client.key.slice(0, -SIGNATURE_CHARACTERS));
}

/** Returns a key that is revoked in the database, and that this isolate hasn't cached. */
export async function newRevokedKey(): Promise<Client> {
  const client = await newClient();
  const { accountId, keyId } = (await verifyKey(parseSecrets(env.KEY_SECRETS), client.key))!;
  await run("INSERT INTO accounts (account_id, name, created_at) VALUES (?, 'x', 1)", accountId);
  await run(
    `INSERT INTO api_keys (key_id, account_id, scopes, created_at, revoked_at)
     VALUES (?, ?, 'read', 1, 1)`,
    keyId,
    accountId,
  );
  return client;
}
