import { base64url, CompactSign, compactVerify, errors } from "jose";
import { ulidToUUID, uuidToULID } from "ulid";
import { type AccountId, trustedId } from "./ids.ts";

/*
 * Signed tokens, as API keys and media URLs carry them: `{kid}_{payload}{signature}`, both parts in
 * base64url. They are JSON Web Signatures (RFC 7515, HS256) without their header, which says
 * nothing but the algorithm, the `kid` and the purpose.
 */

/**
 * Signing secrets by `kid`. The first one signs and all verify, so that a secret can be rotated.
 */
export type Secrets = ReadonlyMap<string, Uint8Array>;

/** What a token is for. One of another purpose doesn't verify. */
type Purpose = "key" | "media";

const MIN_SECRET_BYTES = 32;
export const SIGNATURE_CHARACTERS = 43;
const TOKEN = new RegExp(String.raw`^([A-Za-z0-9]{1,8})_([\w-]+)([\w-]{${SIGNATURE_CHARACTERS}})$`);

/**
 * Parses `KEY_SECRETS`: `kid:base64url[,kid:base64url…]`. A kid has up to 8 letters and digits.
 * Throws on anything else.
 */
export function parseSecrets(text: string): Secrets {
  const secrets = new Map<string, Uint8Array>();
  for (const entry of text.split(",")) {
    const [kid = "", encoded, ...rest] = entry.trim().split(":");
    if (!/^[A-Za-z0-9]{1,8}$/.test(kid) || !encoded || rest.length > 0) {
      throw new Error("KEY_SECRETS must be kid:base64url, several separated by commas");
    }
    const secret = base64url.decode(encoded);
    if (secret.length < MIN_SECRET_BYTES) {
      throw new Error(`KEY_SECRETS: the secret "${kid}" is shorter than ${MIN_SECRET_BYTES} bytes`);
    }
    if (secrets.has(kid)) throw new Error(`KEY_SECRETS: two secrets are named "${kid}"`);
    secrets.set(kid, secret);
  }
  return secrets;
}

/** Signs a payload with the first of the secrets. */
export async function signToken(
  secrets: Secrets,
  purpose: Purpose,
  payload: Uint8Array,
): Promise<string> {
  const [kid, secret] = [...secrets][0]!;
  const jws = new CompactSign(payload).setProtectedHeader(toHeader(kid, purpose));
  const [, body, signature] = (await jws.sign(secret)).split(".");
  return `${kid}_${body}${signature}`;
}

/** Returns a token's payload and `kid`; null if no known secret signed it for the purpose. */
export async function verifyToken(
  secrets: Secrets,
  purpose: Purpose,
  token: string,
): Promise<{ payload: Buffer; kid: string } | null> {
  const [, kid = "", body = "", signature = ""] = TOKEN.exec(token) ?? [];
  const secret = secrets.get(kid);
  if (!secret || !isCanonical(signature)) return null;
  const header = base64url.encode(JSON.stringify(toHeader(kid, purpose)));
  try {
    const jws = `${header}.${body}.${signature}`;
    const { payload } = await compactVerify(jws, secret, { algorithms: ["HS256"] });
    return { payload: Buffer.from(payload), kid };
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** Whether decoding drops no bits of the last character: else a token would have several forms. */
function isCanonical(text: string): boolean {
  return base64url.encode(base64url.decode(text)) === text;
}

function toHeader(kid: string, purpose: Purpose) {
  return { alg: "HS256", kid, typ: `sightline-${purpose}` };
}

const secretsByText = new Map<string, Secrets>();

/** Returns the signing secrets, parsed once. Throws with the command to run if they aren't set. */
export function keySecrets(env: { KEY_SECRETS?: string }): Secrets {
  const text = env.KEY_SECRETS;
  if (!text) throw new Error("KEY_SECRETS is not set: run `npx wrangler secret put KEY_SECRETS`");
  let secrets = secretsByText.get(text);
  if (!secrets) secretsByText.set(text, (secrets = parseSecrets(text)));
  return secrets;
}

/** Bytes of an id without its prefix. */
export const ID_BYTES = 16;

/** Encodes the ULID at the end of an id. */
export function idBytes(id: string): Uint8Array {
  return Buffer.from(ulidToUUID(id.slice(-26)).replaceAll("-", ""), "hex");
}

/** Reads a ULID. */
export function readUlid(bytes: Buffer, offset: number): string {
  const hex = bytes.toString("hex", offset, offset + ID_BYTES);
  return uuidToULID(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
}

/** Keys of an asset's objects: `store/r2/object-keys.ts`. */
const OBJECT_KEY = /^(acc_\w{26})\/(ind_\w{26})\/((?:vid|img)_\w{26})\/(.+)$/;
const PREFIXES: Record<string, string> = { v: "vid", i: "img" };
const MEDIA_TIME_BYTES = 4;

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
  const time = Buffer.alloc(MEDIA_TIME_BYTES);
  time.writeUInt32BE(Math.floor(expiresAt / 1000));
  const payload = [time, ...[account, index, asset].map(idBytes), Buffer.from(asset[0] + path)];
  return signToken(secrets, "media", Buffer.concat(payload));
}

/** Returns the object key that a media token grants access to, and its account; or null. */
export async function verifyMediaToken(secrets: Secrets, token: string) {
  const payload = (await verifyToken(secrets, "media", token))?.payload;
  if (!payload || payload.readUInt32BE() * 1000 <= Date.now()) return null;
  const [account, index, asset] = [0, 1, 2].map((i) =>
    readUlid(payload, MEDIA_TIME_BYTES + i * ID_BYTES),
  );
  const rest = payload.toString("utf8", MEDIA_TIME_BYTES + 3 * ID_BYTES);
  const accountId = trustedId<AccountId>(`acc_${account}`);
  const key = `${accountId}/ind_${index}/${PREFIXES[rest[0]!]}_${asset}/${rest.slice(1)}`;
  return { key, accountId };
}
