import { SHA256 } from "@stablelib/sha256";
import { LIMITS, PART_BYTES } from "../config.ts";
import { AppError } from "../errors.ts";
import { ASSET_PREFIX, newId } from "../ids.ts";
import { HEAD_BYTES, sniffMediaType } from "../media/media-type.ts";
import {
  commitUpload,
  discardParts,
  type UploadProgress,
  allocatePartNumber,
  type Upload,
} from "../store/d1/uploads.ts";
import { deleteObjectKeys } from "../store/r2/object-keys.ts";
import { createMultipart, resumeMultipart, putTail, readTail } from "../store/r2/upload-objects.ts";

type Stores = Pick<Env, "DB" | "MEDIA">;
type MediaKind = Awaited<ReturnType<typeof sniffMediaType>>;

/**
 * Appends bytes to an upload for the request that has its lock, with one part of `PART_BYTES` in
 * memory. Each part counts once it is stored. If the request is atomic, no part counts before
 * `close`. Throws `conflict` if another request has taken the lock.
 */
export class UploadWriter {
  /** Why the bytes can't become an asset. The upload is then useless. */
  mediaError: AppError | undefined;
  readonly #stores: Stores;
  readonly #isAtomic: boolean;
  readonly #part: Uint8Array;
  readonly #hash: SHA256;
  #upload: Upload;
  /** Bytes in R2 of all parts that were ever stored. */
  #partBytes: number;
  #kind: MediaKind | undefined;
  #filledBytes: number;
  #progress: UploadProgress;
  #multipart: R2MultipartUpload | undefined;
  /** True while it is unknown whether the last commit took effect. */
  #isCommitUncertain = false;
  /** Parts in R2 that no commit has recorded yet. */
  #parts: R2UploadedPart[] = [];

  private constructor(
    stores: Stores,
    upload: Upload,
    isAtomic: boolean,
    part: Uint8Array,
    filledBytes: number,
  ) {
    const { received, tail, sha256State, sha256, target } = upload;
    this.#stores = stores;
    this.#upload = upload;
    this.#partBytes = upload.storedBytes - filledBytes;
    this.#isAtomic = isAtomic;
    this.#part = part;
    this.#filledBytes = filledBytes;
    this.#progress = { received, tail, sha256State, sha256, target };
    this.#hash = resumeHash(sha256State, received - filledBytes);
    if (target) {
      this.#kind = target;
      this.#multipart = resumeMultipart(stores.MEDIA, upload, target);
    }
  }

  static async open(stores: Stores, upload: Upload, isAtomic: boolean): Promise<UploadWriter> {
    const part = new Uint8Array(PART_BYTES);
    const filledBytes = await readTail(stores.MEDIA, upload, part);
    return new UploadWriter(stores, upload, isAtomic, part, filledBytes);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let readBytes = 0; readBytes < bytes.length;) {
      if (this.#filledBytes === PART_BYTES) await this.#sendPart();
      const chunk = bytes.subarray(readBytes, readBytes + PART_BYTES - this.#filledBytes);
      this.#part.set(chunk, this.#filledBytes);
      this.#filledBytes += chunk.length;
      this.#progress.received += chunk.length;
      readBytes += chunk.length;
    }
    if (this.#filledBytes >= HEAD_BYTES) await this.#requireMediaKind();
  }

  /** Commits all written bytes, and resolves to the updated upload. */
  async close(): Promise<Upload> {
    const { length } = this.#upload;
    const isLast = this.#progress.received === length;
    if (!isLast && this.#progress.received === this.#upload.received) return this.#upload;
    if (isLast) await this.#requireMediaKind();
    if (this.#filledBytes === PART_BYTES || (isLast && this.#filledBytes > 0))
      await this.#sendPart();
    if (isLast) this.#progress.sha256 = Buffer.from(this.#hash.digest()).toString("hex");
    if (this.#filledBytes > 0) {
      const bytes = this.#part.subarray(0, this.#filledBytes);
      await this.#allocate(bytes.length);
      this.#progress.tail = await putTail(this.#stores.MEDIA, this.#upload, bytes);
    }
    await this.#commit();
    return this.#upload;
  }

  /** Discards bytes that no commit has recorded. */
  async drop(): Promise<void> {
    if (this.#upload.target || this.#isCommitUncertain || !this.#multipart) return;
    try {
      await this.#multipart.abort();
      await discardParts(this.#stores.DB, this.#upload);
    } catch {
      // R2 aborts it after a week. Its parts count until the upload ends.
    }
  }

  async #sendPart(): Promise<void> {
    const multipart = (this.#multipart ??= await this.#createMultipart());
    const bytes = this.#part.subarray(0, this.#filledBytes);
    const number = await this.#allocate(bytes.length);
    this.#partBytes += bytes.length;
    this.#parts.push(await multipart.uploadPart(number, bytes));
    this.#hash.update(bytes);
    this.#filledBytes = 0;
    this.#progress.tail = null;
    if (bytes.length < PART_BYTES) return; // `close` commits the last part
    this.#progress.sha256State = hashState(this.#hash);
    if (!this.#isAtomic) await this.#commit();
  }

  /** Counts a part or a tail before it is stored, and returns an unused part number. */
  async #allocate(bytes: number): Promise<number> {
    const storedBytes = this.#partBytes + bytes;
    const number = await allocatePartNumber(this.#stores.DB, this.#upload, storedBytes);
    if (number === null) throw lockTaken();
    this.#upload = { ...this.#upload, storedBytes };
    return number;
  }

  async #createMultipart(): Promise<R2MultipartUpload> {
    const { assetType, contentType } = await this.#requireMediaKind();
    const assetId = newId(ASSET_PREFIX[assetType]);
    const multipart = await createMultipart(this.#stores.MEDIA, this.#upload, {
      assetId,
      contentType,
    });
    this.#progress.target = { assetId, assetType, contentType, storageId: multipart.uploadId };
    return multipart;
  }

  async #commit(): Promise<void> {
    const { DB, MEDIA } = this.#stores;
    const { tail } = this.#upload;
    this.#isCommitUncertain = true;
    const isCommitted = await commitUpload(DB, this.#upload, this.#parts, this.#progress);
    this.#isCommitUncertain = false;
    if (!isCommitted && this.#progress.tail !== null)
      await deleteObjectKeys(MEDIA, [this.#progress.tail]);
    if (!isCommitted) throw lockTaken();
    this.#parts = [];
    this.#upload = { ...this.#upload, ...this.#progress };
    if (tail !== null && tail !== this.#progress.tail) await deleteObjectKeys(MEDIA, [tail]);
  }

  /** Detects type and format by the first bytes. Throws if the upload can't become an asset. */
  async #requireMediaKind(): Promise<MediaKind> {
    try {
      const head = this.#part.subarray(0, Math.min(this.#filledBytes, HEAD_BYTES));
      const kind = (this.#kind ??= await sniffMediaType(head));
      const sizeBytes = this.#upload.length ?? this.#progress.received;
      if (kind.assetType === "image" && sizeBytes > LIMITS.imageBytes) throw imageTooLarge();
      return kind;
    } catch (error) {
      if (error instanceof AppError) this.mediaError = error;
      throw error;
    }
  }
}

function lockTaken(): AppError {
  return new AppError("conflict", "Another request goes on with this upload now.");
}

function imageTooLarge(): AppError {
  const limit = `${LIMITS.imageBytes / 1024 ** 2} MiB`;
  return new AppError("too_large", `The image is larger than the limit of ${limit}.`);
}

const WORD_DIGITS = 8;

/**
 * Resumes a SHA-256 (FIPS 180-4) that several requests compute. `state` is the hex of `hashState`
 * after `bytes` bytes. These are whole parts and so whole blocks: no partial block is stored.
 */
function resumeHash(state: string | null, bytes: number): SHA256 {
  const hash = new SHA256();
  if (state === null) return hash;
  const words = Array.from({ length: 8 }, (_, i) =>
    Number.parseInt(state.slice(i * WORD_DIGITS, (i + 1) * WORD_DIGITS), 16),
  );
  return hash.restoreState({
    state: new Int32Array(words),
    buffer: undefined,
    bufferLength: 0,
    bytesHashed: bytes,
  });
}

/** Returns the eight state words as hex, for the upload's record. */
function hashState(hash: SHA256): string {
  const { state } = hash.saveState();
  return [...state].map((word) => (word >>> 0).toString(16).padStart(WORD_DIGITS, "0")).join("");
}
