import { type AccountId, type KeyId, trustedId } from "./ids.ts";
import {
  ID_BYTES,
  idBytes,
  readUlid,
  type Secrets,
  SIGNATURE_CHARACTERS,
  signToken,
  verifyToken,
} from "./signed-token.ts";

/** Scopes within an account. Each can be granted by a key that has it. */
export const ACCOUNT_SCOPES = ["read", "write", "admin"] as const;
/** All scopes. `operator` reads the state of the whole deployment: only a command signs it. */
export const SCOPES = [...ACCOUNT_SCOPES, "operator"] as const;
export type Scope = (typeof SCOPES)[number];

/** The claims that an API key carries. */
export interface KeyClaims {
  keyId: KeyId;
  accountId: AccountId;
  /** Names a new account. A key has its first bytes, as many as fit: about 14. */
  accountName: string;
  /** Names a key of the command line; cut to the bytes that the account's name leaves. */
  keyName?: string;
  scopes: Scope[];
  /** Epoch ms; null for a key that doesn't expire. */
  expiresAt: number | null;
}

export interface VerifiedKey extends KeyClaims {
  /** Name of the signing secret (RFC 7515). */
  kid: string;
}

const KEY_PREFIX = "sl_";
const MAX_KEY_CHARACTERS = 120;

/** Bytes of the time of expiry, and where the account's name begins. */
const TIME_BYTES = 6;
const NAME_OFFSET = 1 + TIME_BYTES + 2 * ID_BYTES;
/** Separates the account's name from the key's. */
const NAME_END = "\0";

/**
 * Signs an API key: `sl_`, then a token of one byte with a bit for each scope, the time of expiry
 * or 0, the ids of the account and the key, and the beginning of the account's name and the key's.
 * It has at most 120 characters.
 */
export async function signKey(secrets: Secrets, claims: KeyClaims): Promise<string> {
  const [kid] = [...secrets.keys()] as [string];
  const characters = MAX_KEY_CHARACTERS - `${KEY_PREFIX}${kid}_`.length - SIGNATURE_CHARACTERS;
  const nameBytes = Math.floor((characters * 3) / 4) - NAME_OFFSET;
  const names = [claims.accountName, claims.keyName].filter(Boolean).join(NAME_END);
  const head = Buffer.alloc(1 + TIME_BYTES);
  head[0] = SCOPES.reduce((bits, scope, i) => bits | (+claims.scopes.includes(scope) << i), 0);
  head.writeUIntBE(claims.expiresAt ?? 0, 1, TIME_BYTES);
  const payload = Buffer.concat([
    head,
    idBytes(claims.accountId),
    idBytes(claims.keyId),
    truncate(names, nameBytes),
  ]);
  return KEY_PREFIX + (await signToken(secrets, "key", payload));
}

/** Encodes the beginning of a text in UTF-8: whole characters, of at most `maxBytes`. */
function truncate(text: string, maxBytes: number): Uint8Array {
  const bytes = new Uint8Array(maxBytes);
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written);
}

/**
 * Returns the claims of a key; null if it is malformed, expired or not signed by a known secret.
 */
export async function verifyKey(secrets: Secrets, key: string): Promise<VerifiedKey | null> {
  if (!key.startsWith(KEY_PREFIX)) return null;
  const verified = await verifyToken(secrets, "key", key.slice(KEY_PREFIX.length));
  if (!verified) return null;
  const { payload, kid } = verified;
  const expiresAt = payload.readUIntBE(1, TIME_BYTES) || null;
  if (expiresAt !== null && expiresAt <= Date.now()) return null;
  const [accountName = "", keyName] = payload.toString("utf8", NAME_OFFSET).split(NAME_END);
  return {
    keyId: trustedId(`key_${readUlid(payload, 1 + TIME_BYTES + ID_BYTES)}`),
    accountId: trustedId(`acc_${readUlid(payload, 1 + TIME_BYTES)}`),
    accountName,
    ...(keyName && { keyName }),
    scopes: SCOPES.filter((_, i) => payload[0]! & (1 << i)),
    expiresAt,
    kid,
  };
}
