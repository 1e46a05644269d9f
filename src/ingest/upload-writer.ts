import type { SHA256 } from "@stablelib/sha256";
import { LIMITS, PART_BYTES } from "../config.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import { HEAD_BYTES, tellKind } from "../media/kind.ts";
import { createWhole, openWhole, putTail, readTail } from "../store/upload-objects.ts";
import { commitUpload, type Progress, takePartNumber, type Upload } from "../store/uploads.ts";
import { hashState, resumeHash } from "./upload-hash.ts";

type Stores = Pick<Env, "DB" | "MEDIA">;
type Kind = Awaited<ReturnType<typeof tellKind>>;

/**
 * Adds bytes to an upload in the name of the request that holds it, with one part of `PART_BYTES` in memory.
 * Each part counts once it is stored, or, where all of the request is to count or nothing, none before
 * `close`. Throws `conflict` where another request holds the upload now.
 */
export class UploadWriter {
  /** Why what comes can't become an asset; then the upload has no use any more. */
  unfit: AppError | undefined;
  readonly #stores: Stores;
  readonly #isAtomic: boolean;
  readonly #part: Uint8Array;
  readonly #hash: SHA256;
  #upload: Upload;
  #kind: Kind | undefined;
  #filled: number;
  #progress: Progress;
  #whole: R2MultipartUpload | undefined;
  /** Nobody has told whether the last commit counts. */
  #isUnsure = false;
  /** Stored, but not on record. */
  #parts: R2UploadedPart[] = [];

  private constructor(
    stores: Stores,
    upload: Upload,
    isAtomic: boolean,
    part: Uint8Array,
    filled: number,
  ) {
    const { received, tail, hash, sha256, target } = upload;
    this.#stores = stores;
    this.#upload = upload;
    this.#isAtomic = isAtomic;
    this.#part = part;
    this.#filled = filled;
    this.#progress = { received, tail, hash, sha256, target };
    this.#hash = resumeHash(hash, received - filled);
    if (target) {
      this.#kind = target;
      this.#whole = openWhole(stores.MEDIA, upload, target);
    }
  }

  static async open(stores: Stores, upload: Upload, isAtomic: boolean): Promise<UploadWriter> {
    const part = new Uint8Array(PART_BYTES);
    const filled = await readTail(stores.MEDIA, upload, part);
    return new UploadWriter(stores, upload, isAtomic, part, filled);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let read = 0; read < bytes.length;) {
      if (this.#filled === PART_BYTES) await this.#sendPart();
      const taken = bytes.subarray(read, read + PART_BYTES - this.#filled);
      this.#part.set(taken, this.#filled);
      this.#filled += taken.length;
      this.#progress.received += taken.length;
      read += taken.length;
    }
    if (this.#filled >= HEAD_BYTES) await this.#requireFit();
  }

  /** All that was written counts. Resolves to the upload as it is then. */
  async close(): Promise<Upload> {
    const { length } = this.#upload;
    const isLast = this.#progress.received === length;
    if (!isLast && this.#progress.received === this.#upload.received) return this.#upload;
    if (isLast) await this.#requireFit();
    if (this.#filled === PART_BYTES || (isLast && this.#filled > 0)) await this.#sendPart();
    if (isLast) this.#progress.sha256 = Buffer.from(this.#hash.digest()).toString("hex");
    if (this.#filled > 0) {
      const bytes = this.#part.subarray(0, this.#filled);
      this.#progress.tail = await putTail(this.#stores.MEDIA, this.#upload, bytes);
    }
    await this.#commit();
    return this.#upload;
  }

  /** What doesn't count yet never will. */
  async drop(): Promise<void> {
    if (this.#upload.target || this.#isUnsure) return;
    await this.#whole?.abort().catch(() => undefined); // then R2 does in a week
  }

  async #sendPart(): Promise<void> {
    const whole = (this.#whole ??= await this.#createWhole());
    const number = await takePartNumber(this.#stores.DB, this.#upload);
    if (number === null) throw overtaken();
    const bytes = this.#part.subarray(0, this.#filled);
    this.#parts.push(await whole.uploadPart(number, bytes));
    this.#hash.update(bytes);
    this.#filled = 0;
    this.#progress.tail = null;
    if (bytes.length < PART_BYTES) return; // the last: `close` commits it with the hash of the whole
    this.#progress.hash = hashState(this.#hash);
    if (!this.#isAtomic) await this.#commit();
  }

  async #createWhole(): Promise<R2MultipartUpload> {
    const { assetType, contentType } = await this.#requireFit();
    const assetId = newId(assetType === "video" ? "vid" : "img");
    const whole = await createWhole(this.#stores.MEDIA, this.#upload, { assetId, contentType });
    this.#progress.target = { assetId, assetType, contentType, storageId: whole.uploadId };
    return whole;
  }

  async #commit(): Promise<void> {
    const { DB, MEDIA } = this.#stores;
    const { tail } = this.#upload;
    this.#isUnsure = true;
    const counts = await commitUpload(DB, this.#upload, this.#parts, this.#progress);
    this.#isUnsure = false;
    if (!counts && this.#progress.tail !== null) await MEDIA.delete(this.#progress.tail);
    if (!counts) throw overtaken();
    this.#parts = [];
    this.#upload = { ...this.#upload, ...this.#progress };
    if (tail !== null && tail !== this.#progress.tail) await MEDIA.delete(tail);
  }

  /** What it is, by its first bytes. */
  async #requireFit(): Promise<Kind> {
    try {
      const head = this.#part.subarray(0, Math.min(this.#filled, HEAD_BYTES));
      const kind = (this.#kind ??= await tellKind(head));
      const size = this.#upload.length ?? this.#progress.received;
      if (kind.assetType === "image" && size > LIMITS.imageBytes) throw imageTooLarge();
      return kind;
    } catch (error) {
      if (error instanceof AppError) this.unfit = error;
      throw error;
    }
  }
}

function overtaken(): AppError {
  return new AppError("conflict", "Another request goes on with this upload now.");
}

function imageTooLarge(): AppError {
  const limit = `${LIMITS.imageBytes / 1024 ** 2} MiB`;
  return new AppError("too_large", `The image is larger than the limit of ${limit}.`);
}
