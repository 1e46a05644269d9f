import { type Count, countCalls, type CountName } from "../counts.ts";
import { AppError } from "../errors.ts";
import type { AccountId } from "../ids.ts";
import { chargeBytes, releaseAllBytes, releaseBytes, runRelease } from "../store/d1/quotas.ts";
import { type ChargedTo, chargedTo } from "../store/r2/object-keys.ts";

/** Bytes that are charged ahead of the parts of a file whose length isn't known. */
const AHEAD_BYTES = 64 * 1024 ** 2;

/** Which operations a method is billed as (R2, class B and A). Deletions are free. */
const OPERATIONS: Readonly<Record<string, CountName>> = {
  head: "bucketReads",
  get: "bucketReads",
  list: "bucketWrites",
  put: "bucketWrites",
  createMultipartUpload: "bucketWrites",
  uploadPart: "bucketWrites",
  complete: "bucketWrites",
};

type Charge = ChargedTo & { accountId: AccountId };

/**
 * Wraps a bucket so that its operations are counted, and nothing is written to it before its bytes
 * are charged to an account: `accountId`, unless the key names another. Writes throw `account_full`
 * beyond its limit. Parts of resumable uploads, which `resumeMultipartUpload` gives, are charged to
 * the upload (`store/d1/uploads.ts`).
 */
export function guardBucket(
  bucket: R2Bucket,
  db: D1Database,
  accountId: AccountId | null,
  count: Count,
): R2Bucket {
  const onCall = (name: string) => {
    if (name !== "resumeMultipartUpload") count("subrequests", 1); // that makes no call
    const operation = OPERATIONS[name];
    if (operation) count(operation, 1);
  };
  const chargeOf = (key: string): Charge | null => {
    const charge = chargedTo(key);
    if (!charge) return null;
    const account = charge.accountId ?? accountId;
    if (account === null) throw new Error("An object belongs to no account");
    return { ...charge, accountId: account };
  };
  const put = async (key: string, value: string | Uint8Array, options?: R2PutOptions) => {
    const charge = chargeOf(key);
    if (charge) await chargeBytes(db, charge, byteLength(value));
    return bucket.put(key, value, options);
  };
  return countCalls(bucket, count, onCall, {
    put: put as R2Bucket["put"],
    async createMultipartUpload(key, options) {
      const upload = await bucket.createMultipartUpload(key, options);
      const charge = chargeOf(key);
      return countCalls(upload, count, onCall, charge ? chargeParts(upload, db, charge) : {});
    },
    resumeMultipartUpload: (...args) =>
      countCalls(bucket.resumeMultipartUpload(...args), count, onCall),
    async delete(keys) {
      await bucket.delete(keys);
      const clips = [keys].flat().filter((key) => key.startsWith("clips/"));
      const owners = new Set(clips.flatMap((key) => chargedTo(key)?.owner ?? []));
      if (owners.size > 0) await runRelease(db, releaseAllBytes([...owners]));
    },
  });
}

/** Returns methods of a multipart upload that charge parts before they are stored. */
function chargeParts(
  upload: R2MultipartUpload,
  db: D1Database,
  charge: Charge,
): Partial<R2MultipartUpload> {
  let charged = 0;
  let stored = 0;
  const chargeUpTo = async (bytes: number): Promise<void> => {
    await chargeBytes(db, charge, bytes - charged);
    charged = bytes;
  };
  const release = async (bytes: number): Promise<void> => {
    charged -= bytes;
    if (bytes > 0) await runRelease(db, releaseBytes(charge.owner, bytes));
  };
  return {
    async uploadPart(number, value) {
      const total = stored + byteLength(value);
      if (total > charged) {
        await chargeUpTo(total + AHEAD_BYTES).catch((error: unknown) => {
          if (!(error instanceof AppError)) throw error;
          return chargeUpTo(total); // all the room that is left may do
        });
      }
      stored = total;
      return upload.uploadPart(number, value);
    },
    async complete(parts) {
      const object = await upload.complete(parts);
      await release(charged - stored);
      return object;
    },
    async abort() {
      await upload.abort();
      await release(charged);
    },
  };
}

/** Only values of known length are written: a stream can't be charged before it is read. */
function byteLength(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  throw new TypeError("Only text and bytes are written to the bucket");
}
