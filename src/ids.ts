import { ulid } from "ulid";

export type IdPrefix = "vid" | "img" | "job" | "key" | "upl" | "src" | "ind";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A new identifier: the prefix and a ULID, which sorts by the time it was made. */
export function newId(prefix: IdPrefix, now = Date.now()): string {
  return `${prefix}_${ulid(now)}`;
}

/** An identifier derived from `seed`: the same seed, the same id. Used where a step may run twice. */
export async function derivedId(prefix: "seg" | "acc", seed: string): Promise<string> {
  const digest = new Uint8Array(
    await crypto.subtle.digest("SHA-256", new TextEncoder().encode(seed)),
  );
  return `${prefix}_${crockford128(digest.subarray(0, 16))}`;
}

/**
 * The account id of a name. Keys are minted without a database, so the id is a function of the
 * name; the row appears with the first request made with the key.
 */
export function accountId(name: string): Promise<string> {
  return derivedId("acc", `account:${name}`);
}

const EVENT_DIGITS = 10;

/**
 * The id of an index's event number `seq`: `evt_<the index's ULID>_<number>`. It has no full stop, which
 * would end it in what a webhook signs.
 */
export function eventId(indexId: string, seq: number): string {
  return `evt_${indexId.slice(4)}_${String(seq).padStart(EVENT_DIGITS, "0")}`;
}

/** The number of an event; null where the id is not of this index. */
export function eventSeq(indexId: string, id: string): number | null {
  const seq = Number(/_(\d{10,15})$/.exec(id)?.[1] ?? Number.NaN);
  return eventId(indexId, seq) === id ? seq : null;
}

/** 16 bytes as the 26 characters of a ULID. */
function crockford128(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = "";
  for (let i = 0; i < 26; i++) {
    text = CROCKFORD[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return text;
}
