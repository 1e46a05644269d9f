import { SHA256 } from "@stablelib/sha256";
import type { ByteSource } from "../byte-source.ts";
import { LIMITS, PART_BYTES } from "../config.ts";
import { AppError } from "../errors.ts";
import { ASSET_PREFIX, newId } from "../ids.ts";
import { ignoreAfterUse, ignoreUntilAwaited } from "../ignored-errors.ts";
import { HEAD_BYTES, sniffMediaType } from "../media/media-type.ts";
import {
  commitUpload,
  discardParts,
  type UploadProgress,
  allocatePartNumber,
  type Upload,
  createMultipart,
  putTail,
  readTail,
  removeUpload,
  resumeMultipart,
} from "../store/d1/uploads.ts";
import { deleteObjectKeys } from "../store/r2/object-keys.ts";

type Stores = Pick<Env, "DB" | "MEDIA">;
type MediaKind = Awaited<ReturnType<typeof sniffMediaType>>;

/**
 * Appends bytes to an upload for the request that has its lock, with one part of `PART_BYTES` in
 * memory. Each part counts once it is stored. If the request is atomic, no part counts before
 * `close`. Throws `conflict` if another request has taken the lock.
 */
class UploadWriter {
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

  async close(): Promise<Upload> {
    const { length } = this.#upload;
    const isLast = this.#progress.received === length;
    if (!isLast && this.#progress.received === this.#upload.received) return this.#upload;
    if (isLast) await this.#requireMediaKind();
    const isPartDue = this.#filledBytes === PART_BYTES || (isLast && this.#filledBytes > 0);
    if (isPartDue) await this.#sendPart();
    if (isLast) this.#progress.sha256 = Buffer.from(this.#hash.digest()).toString("hex");
    if (this.#filledBytes > 0) {
      const bytes = this.#part.subarray(0, this.#filledBytes);
      await this.#allocate(bytes.length);
      this.#progress.tail = await putTail(this.#stores.MEDIA, this.#upload, bytes);
    }
    await this.#commit();
    return this.#upload;
  }

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
    const target = { assetId, contentType };
    const multipart = await createMultipart(this.#stores.MEDIA, this.#upload, target);
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
      const { length } = this.#upload;
      if (kind.assetType === "image" && length > LIMITS.imageBytes) throw imageTooLarge();
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

/**
 * Resumes a SHA-256 (FIPS 180-4) that several requests compute. `state` is the hex of `hashState`
 * after `bytes` bytes. These are whole parts and so whole blocks: no partial block is stored.
 */
function resumeHash(state: string | null, bytes: number): SHA256 {
  const hash = new SHA256();
  if (state === null) return hash;
  const words = state.match(/.{8}/g)!.map((word) => Number.parseInt(word, 16));
  const saved = { state: new Int32Array(words), buffer: undefined, bufferLength: 0 };
  return hash.restoreState({ ...saved, bytesHashed: bytes });
}

/** Returns the eight state words as hex, for the upload's record. */
function hashState(hash: SHA256): string {
  const { state } = hash.saveState();
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Digest that the body of one request must have. */
export interface Checksum {
  algorithm: "SHA-1" | "SHA-256" | "MD5";
  digest: Uint8Array;
}

/**
 * Appends the body of one request to the upload that the request has locked, and resolves to the
 * updated upload. Bytes before a broken connection count. With a checksum either all bytes count or
 * none. Throws `bad_request` (connection broken), `checksum_mismatch`, `conflict` (another request
 * has the lock), `too_large` (beyond the announced length), `account_full` and the reason why the
 * bytes can't become an asset, after deleting the upload. Reads the rest of the body before
 * throwing, since many clients read no response while they send.
 */
export async function receiveBytes(
  stores: Pick<Env, "DB" | "MEDIA">,
  upload: Upload,
  body: ByteSource,
  checksum: Checksum | null,
): Promise<Upload> {
  const writer = await UploadWriter.open(stores, upload, checksum !== null);
  const remainingBytes = upload.length - upload.received;
  const digest = checksum && createDigest(checksum.algorithm);
  try {
    let receivedBytes = 0;
    let writeError: unknown;
    let connectionError: AppError | undefined;
    const chunks = readChunks(body, (error) => (connectionError = error));
    for await (const chunk of chunks) {
      receivedBytes += chunk.length;
      await digest?.write(chunk);
      if (receivedBytes > LIMITS.uploadBytes) throw tooLarge(remainingBytes);
      if (writeError !== undefined) continue;
      if (receivedBytes > remainingBytes) writeError = tooLarge(remainingBytes);
      else await writer.write(chunk).catch((error: unknown) => (writeError = error));
    }
    if (writeError instanceof AppError && writeError.code === "account_full") throw writeError;
    if (digest && connectionError) throw connectionError;
    if (digest && !(await digest.matches(checksum.digest))) {
      const message = "The bytes don't have their checksum: send them again.";
      throw new AppError("checksum_mismatch", message);
    }
    if (writeError !== undefined) throw writeError;
    const updated = await writer.close();
    if (connectionError) throw connectionError;
    return updated;
  } catch (error) {
    await digest?.abort();
    await writer.drop();
    if (writer.mediaError === error) await removeUpload(stores, upload);
    throw error;
  }
}

async function* readChunks(
  body: ByteSource,
  onBroken: (error: AppError) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    const message = "The upload broke off; go on from its offset.";
    onBroken(new AppError("bad_request", message, { cause }));
  }
}

function createDigest(algorithm: Checksum["algorithm"]) {
  const stream = new crypto.DigestStream(algorithm);
  const writer = stream.getWriter();
  stream.digest.catch(ignoreUntilAwaited); // it rejects after `abort`
  return {
    write: (chunk: Uint8Array) => writer.write(chunk),
    matches: async (expected: Uint8Array) => {
      await writer.close();
      return Buffer.from(expected).equals(Buffer.from(await stream.digest));
    },
    abort: () => writer.abort().catch(ignoreAfterUse),
  };
}

function tooLarge(remainingBytes: number): AppError {
  const message = `Only ${remainingBytes} bytes of this upload are still to come.`;
  return new AppError("too_large", message);
}
