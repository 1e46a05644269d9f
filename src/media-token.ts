import { type AccountId, trustedId } from "./ids.ts";
import {
  ID_BYTES,
  idBytes,
  readUlid,
  type Secrets,
  signToken,
  verifyToken,
} from "./signed-token.ts";

/** Keys of an asset's objects: `store/r2/object-keys.ts`. */
const OBJECT_KEY = /^(acc_\w{26})\/(ind_\w{26})\/((?:vid|img)_\w{26})\/(.+)$/;
const PREFIXES: Record<string, string> = { v: "vid", i: "img" };
const TIME_BYTES = 4;

/**
 * Signs a token that grants access to one R2 object of an asset until `expiresAt` (epoch ms), in
 * media URLs: the time in seconds, the ids of the account, the index and the asset, the first
 * letter of the asset's prefix, and the rest of the key.
 */
export function signMediaKey(
  secrets: Secrets,
  objectKey: string,
  expiresAt: number,
): Promise<string> {
  const parts = OBJECT_KEY.exec(objectKey);
  if (!parts) throw new Error("Only objects of assets have media URLs.");
  const [, account = "", index = "", asset = "", path = ""] = parts;
  const time = Buffer.alloc(TIME_BYTES);
  time.writeUInt32BE(Math.floor(expiresAt / 1000));
  const payload = [time, ...[account, index, asset].map(idBytes), Buffer.from(asset[0] + path)];
  return signToken(secrets, "media", Buffer.concat(payload));
}

/** Returns the object key that a media token grants access to, and its account; or null. */
export async function verifyMediaToken(secrets: Secrets, token: string) {
  const payload = (await verifyToken(secrets, "media", token))?.payload;
  if (!payload || payload.readUInt32BE() * 1000 <= Date.now()) return null;
  const [account, index, asset] = [0, 1, 2].map((i) =>
    readUlid(payload, TIME_BYTES + i * ID_BYTES),
  );
  const rest = payload.toString("utf8", TIME_BYTES + 3 * ID_BYTES);
  const accountId = trustedId<AccountId>(`acc_${account}`);
  const key = `${accountId}/ind_${index}/${PREFIXES[rest[0]!]}_${asset}/${rest.slice(1)}`;
  return { key, accountId };
}
