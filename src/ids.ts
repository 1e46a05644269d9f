import { ulid } from "ulid";

declare const names: unique symbol;
type Id<Thing extends string> = string & { readonly [names]: Thing };

/**
 * Ids that name something of an account that has been checked: a string is none of them until a look-up of its
 * owner's has found it. They come with rows, from the functions below, and out of what we wrote ourselves.
 */
export type AccountId = Id<"account">;
export type KeyId = Id<"key">;
export type IndexId = Id<"index">;
export type AssetId = Id<"asset">;
export type SegmentId = Id<"segment">;
export type JobId = Id<"job">;
export type SourceId = Id<"source">;
export type UploadId = Id<"upload">;
/** `{segment}:{kind}`, as `store/vectors.ts` makes it. */
export type VectorId = `${SegmentId}:${string}`;

export type AnyId = Made[keyof Made] | AccountId | SegmentId | VectorId;

/** Takes text for an id that we have written ourselves: `scripts/scoping.ts` holds who may, and why. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows which it is
export function ours<Of extends AnyId>(text: string): Of {
  return text as Of;
}

/** A prefix and a ULID. */
export const ID_CHARACTERS = 30;

interface Made {
  ind: IndexId;
  vid: AssetId;
  img: AssetId;
  job: JobId;
  src: SourceId;
  upl: UploadId;
  key: KeyId;
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A new identifier: the prefix and a ULID, which sorts by the time it was made. */
export function newId<Prefix extends keyof Made>(prefix: Prefix, now = Date.now()): Made[Prefix] {
  return ours(`${prefix}_${ulid(now)}`);
}

/** The same asset and position, the same id: its step may run twice. It sorts by the time of the asset. */
export async function segmentId(asset: AssetId, position: number): Promise<SegmentId> {
  const digest = await digestOf(`${asset}:${position}`);
  return ours(`seg_${asset.slice(4, 14)}${digest.slice(-16)}`);
}

/**
 * The account id of a name. Keys are minted without a database, so the id is a function of the
 * name; the row appears with the first request made with the key.
 */
export async function accountId(name: string): Promise<AccountId> {
  return ours(`acc_${await digestOf(`account:${name}`)}`);
}

const EVENT_DIGITS = 10;

/**
 * The id of an index's event number `seq`: `evt_<the index's ULID>_<number>`. It has no full stop, which
 * would end it in what a webhook signs.
 */
export function eventId(indexId: IndexId, seq: number): string {
  return `evt_${indexId.slice(4)}_${String(seq).padStart(EVENT_DIGITS, "0")}`;
}

/** The number of an event; null where the id is not of this index. */
export function eventSeq(indexId: IndexId, id: string): number | null {
  const seq = Number(/_(\d{10,15})$/.exec(id)?.[1] ?? Number.NaN);
  return eventId(indexId, seq) === id ? seq : null;
}

/** The first 16 bytes of its SHA-256, as a ULID's characters. */
async function digestOf(seed: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(seed));
  return crockford128(new Uint8Array(digest, 0, 16));
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
