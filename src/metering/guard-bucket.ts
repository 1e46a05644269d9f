import { AppError } from "../errors.ts";
import type { AccountId } from "../ids.ts";
import {
  chargeAnyway,
  chargeBytes,
  releaseAllBytes,
  releaseBytes,
} from "../store/d1/object-bytes.ts";
import { type ChargedTo, chargedTo } from "../store/r2/object-keys.ts";
import { replaceMethods } from "./count-calls.ts";

/** Bytes that are charged ahead of the parts of a file whose length isn't known. */
const AHEAD_BYTES = 64 * 1024 ** 2;

type Charge = ChargedTo & { accountId: AccountId };

/**
 * Wraps a bucket so that nothing is written to it before its bytes are charged to an account:
 * `accountId`, unless the key names another. Writes throw `account_full` beyond its limit. The
 * archive record of an asset, which restores it, is charged and always written. Parts of resumable
 * uploads, which `resumeMultipartUpload` gives, are charged to the upload (`store/d1/uploads.ts`).
 */
export function guardBucket(
  bucket: R2Bucket,
  db: D1Database,
  accountId: AccountId | null,
): R2Bucket {
  const chargeOf = (key: string): Charge | null => {
    const charge = chargedTo(key);
    if (!charge) return null;
    const account = charge.accountId ?? accountId;
    if (account === null) throw new Error("An object belongs to no account");
    return { ...charge, accountId: account };
  };
  const put = async (key: string, value: string | Uint8Array, options?: R2PutOptions) => {
    const charge = chargeOf(key);
    const charging = key.endsWith("/asset.json") ? chargeAnyway : chargeBytes;
    if (charge) await charging(db, charge, byteLength(value));
    return bucket.put(key, value, options);
  };
  const createMultipartUpload = async (key: string, options?: R2MultipartOptions) => {
    const upload = await bucket.createMultipartUpload(key, options);
    const charge = chargeOf(key);
    return charge ? guardUpload(upload, db, charge) : upload;
  };
  const deleteObjects = async (keys: string | string[]) => {
    await bucket.delete(keys);
    const clips = [keys].flat().filter((key) => key.startsWith("clips/"));
    const owners = new Set(clips.flatMap((key) => chargedTo(key)?.owner ?? []));
    if (owners.size > 0) await releaseAllBytes(db, [...owners]);
  };
  return replaceMethods(bucket, {
    put: put as R2Bucket["put"],
    createMultipartUpload,
    delete: deleteObjects,
  });
}

/** Wraps a multipart upload so that parts are charged before they are stored. */
function guardUpload(upload: R2MultipartUpload, db: D1Database, charge: Charge) {
  let charged = 0;
  let stored = 0;
  const chargeUpTo = async (bytes: number): Promise<void> => {
    await chargeBytes(db, charge, bytes - charged);
    charged = bytes;
  };
  const release = async (bytes: number): Promise<void> => {
    charged -= bytes;
    if (bytes > 0) await releaseBytes(db, charge.owner, bytes);
  };
  return replaceMethods(upload, {
    async uploadPart(number: number, value: Uint8Array) {
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
    async complete(parts: R2UploadedPart[]) {
      const object = await upload.complete(parts);
      await release(charged - stored);
      return object;
    },
    async abort() {
      await upload.abort();
      await release(charged);
    },
  });
}

/** Only values of known length are written: a stream can't be charged before it is read. */
function byteLength(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  throw new TypeError("Only text and bytes are written to the bucket");
}
