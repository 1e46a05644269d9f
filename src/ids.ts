import { ulid } from "ulid";

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

/**
 * Branded ids of an account's resources. A string from a request isn't one until a lookup scoped to
 * its owner has found it. Ids come from rows, from the functions below, and from data that we
 * wrote.
 */
export type AccountId = Id<"account">;
export type KeyId = Id<"key">;
export type IndexId = Id<"index">;
export type AssetId = Id<"asset">;
export type SegmentId = Id<"segment">;
export type JobId = Id<"job">;
export type SourceId = Id<"source">;
export type UploadId = Id<"upload">;
export type WatchId = Id<"watch">;
export type JudgmentId = Id<"judgment">;
/** `{segment}:{kind}`, made in `store/vectorize/vectors.ts`. Unique in its index. */
export type VectorId = `${SegmentId}:${string}`;

export type AnyId = IdByPrefix[keyof IdByPrefix] | AccountId | SegmentId | VectorId;

/** Brands text that we wrote or signed as an id. `scripts/check-ids.ts` lists who may, and why. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names it
export function trustedId<SomeId extends AnyId>(text: string): SomeId {
  return text as SomeId;
}

/** Length of a prefix, an underscore and a ULID. */
export const ID_CHARACTERS = 30;

interface IdByPrefix {
  ind: IndexId;
  vid: AssetId;
  img: AssetId;
  job: JobId;
  src: SourceId;
  upl: UploadId;
  wat: WatchId;
  key: KeyId;
  jud: JudgmentId;
}

/** Prefixes of assets' ids, by their type. */
export const ASSET_PREFIX = { video: "vid", image: "img" } as const;

/** Prefixes of the ids that requests contain. */
type RequestedPrefix = Exclude<keyof IdByPrefix, "ind" | "jud"> | "seg";

/**
 * Whether text of a request can be an id with one of these prefixes. Lookups check this first, and
 * don't look up any other text.
 */
export function isIdText(prefixes: readonly RequestedPrefix[], text: string): boolean {
  const [, prefix] = /^([a-z]{3})_[0-9A-HJKMNP-TV-Z]{26}$/.exec(text) ?? [];
  return prefixes.some((known) => known === prefix);
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Makes an id of a prefix and a ULID, which sorts by its creation time. */
export function newId<Prefix extends keyof IdByPrefix>(
  prefix: Prefix,
  now = Date.now(),
): IdByPrefix[Prefix] {
  return trustedId(`${prefix}_${ulid(now)}`);
}

/** Names an index that doesn't exist, whose objects are called to check their bindings. */
export const CHECKED_INDEX: IndexId = trustedId("health");

/** Characters of a segment's position in its id: up to a million segments. */
const POSITION_CHARACTERS = 4;

/**
 * The id of a segment: the same each time, since its step may run twice. Sorts by asset creation,
 * then by position, also after an import: a search ranks equal scores by it.
 */
export async function segmentId(asset: AssetId, position: number): Promise<SegmentId> {
  const digest = await digestOf(asset);
  const digits = crockford(BigInt(position), POSITION_CHARACTERS);
  return trustedId(`seg_${asset.slice(4, 14)}${digest.slice(-12)}${digits}`);
}

/**
 * The id of an imported asset: the same each time in one index. It sorts as the asset that was
 * exported does.
 */
export async function importedAssetId(indexId: IndexId, exported: string): Promise<AssetId> {
  const digest = await digestOf(`${indexId}:${exported}`);
  return trustedId(`${exported.slice(0, 14)}${digest.slice(-16)}`);
}

/**
 * Derives an account's id from its name. Keys are signed without a database, so the id is a
 * function of the name; the row appears with the first request made with the key.
 */
export async function accountId(name: string): Promise<AccountId> {
  return trustedId(`acc_${await digestOf(`account:${name}`)}`);
}

const EVENT_DIGITS = 10;

/**
 * The id of event number `seq` of an index: `evt_<the index's ULID>_<number>`. Contains no full
 * stop, which separates the id in the text that a webhook signs.
 */
export function eventId(indexId: IndexId, seq: number): string {
  return `evt_${indexId.slice(4)}_${String(seq).padStart(EVENT_DIGITS, "0")}`;
}

/** Parses the number out of an event's id; null if the id belongs to another index. */
export function eventSeq(indexId: IndexId, id: string): number | null {
  const seq = Number(/_(\d{10,15})$/.exec(id)?.[1] ?? Number.NaN);
  return eventId(indexId, seq) === id ? seq : null;
}

/** Hashes text to the first 16 bytes of its SHA-256, in the alphabet of ULIDs. */
async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  let value = 0n;
  for (const byte of new Uint8Array(digest, 0, 16)) value = (value << 8n) | BigInt(byte);
  return crockford(value, 26);
}

/** Encodes the last `length` digits of a number in the alphabet of ULIDs. */
function crockford(value: bigint, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) {
    text = CROCKFORD[Number((value >> BigInt(5 * i)) & 31n)] + text;
  }
  return text;
}
