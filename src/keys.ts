import { base64url, decodeProtectedHeader, errors, jwtVerify, SignJWT } from "jose";
import { type AccountId, type KeyId, trustedId } from "./ids.ts";

export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** The claims that an API key carries. */
export interface KeyClaims {
  keyId: KeyId;
  accountId: AccountId;
  accountName: string;
  scopes: Scope[];
  expiresAt: number | null;
}

export interface VerifiedKey extends KeyClaims {
  /** Name of the signing secret (RFC 7515). */
  kid: string;
}

/**
 * Signing secrets by `kid`. The first one signs and all verify, so that a secret can be rotated.
 */
export type Secrets = ReadonlyMap<string, Uint8Array>;

const KEY_AUDIENCE = "sightline:key";
const MEDIA_AUDIENCE = "sightline:media";
const MIN_SECRET_BYTES = 32;

/** Parses `KEY_SECRETS`: `kid:base64url[,kid:base64url…]`. Throws on anything else. */
export function parseSecrets(text: string): Secrets {
  const secrets = new Map<string, Uint8Array>();
  for (const entry of text.split(",")) {
    const [kid, encoded, ...rest] = entry.trim().split(":");
    if (!kid || !encoded || rest.length > 0) {
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

export function signKey(secrets: Secrets, claims: KeyClaims): Promise<string> {
  const token = new SignJWT({ scopes: claims.scopes, name: claims.accountName })
    .setSubject(claims.accountId)
    .setJti(claims.keyId)
    .setAudience(KEY_AUDIENCE)
    .setIssuedAt();
  if (claims.expiresAt !== null) token.setExpirationTime(Math.floor(claims.expiresAt / 1000));
  return sign(secrets, token);
}

/**
 * Returns the claims of a key; null if it is malformed, expired or not signed by a known secret.
 */
export async function verifyKey(secrets: Secrets, key: string): Promise<VerifiedKey | null> {
  const verified = await verify(secrets, key, KEY_AUDIENCE);
  if (!verified) return null;
  const { payload, protectedHeader } = verified;
  if (!payload.sub || !payload.jti || !Array.isArray(payload["scopes"])) return null;
  return {
    keyId: trustedId<KeyId>(payload.jti),
    accountId: trustedId<AccountId>(payload.sub),
    accountName: typeof payload["name"] === "string" ? payload["name"] : "",
    scopes: SCOPES.filter((scope) => (payload["scopes"] as unknown[]).includes(scope)),
    expiresAt: payload.exp === undefined ? null : payload.exp * 1000,
    kid: protectedHeader.kid!,
  };
}

/**
 * Signs a token that grants access to one R2 object until `expiresAt` (epoch ms), in media URLs.
 */
export function signMediaKey(secrets: Secrets, objectKey: string, expiresAt: number) {
  const token = new SignJWT().setSubject(objectKey).setAudience(MEDIA_AUDIENCE);
  return sign(secrets, token.setExpirationTime(Math.floor(expiresAt / 1000)));
}

/** Returns the object key that a media token grants access to, and its account; or null. */
export async function verifyMediaToken(secrets: Secrets, token: string) {
  const key = (await verify(secrets, token, MEDIA_AUDIENCE))?.payload.sub;
  return key ? { key, accountId: trustedId<AccountId>(key.split("/")[0]!) } : null;
}

function sign(secrets: Secrets, token: SignJWT): Promise<string> {
  const [kid, secret] = [...secrets][0]!;
  return token.setProtectedHeader({ alg: "HS256", kid }).sign(secret);
}

async function verify(secrets: Secrets, token: string, audience: string) {
  try {
    const secret = secrets.get(decodeProtectedHeader(token).kid ?? "");
    if (!secret) return null;
    return await jwtVerify(token, secret, { audience, algorithms: ["HS256"] });
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
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
