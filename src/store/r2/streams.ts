import { PART_BYTES } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { ignoreAfterUse } from "../../ignored-errors.ts";

export interface StoreOptions {
  maxBytes: number;
  /** Sniffs the media type of the first `headBytes` bytes, before any is stored. May throw. */
  inspect: (head: Uint8Array) => Promise<string>;
  headBytes: number;
  /** Expected hash. Other bytes throw `download_refused`, and don't replace the object. */
  sha256?: string | undefined;
}

export interface StoredStream {
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
  contentType: string;
}

/**
 * Streams bytes of unknown length into an object, and buffers one part of `PART_BYTES` at a time.
 * Throws `too_large` past `maxBytes`, whatever `inspect` throws, and the stream's own errors. The
 * object is not replaced if anything throws.
 */
export async function storeStream(
  bucket: R2Bucket,
  key: string,
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, inspect, headBytes, sha256: expectedSha256 }: StoreOptions,
): Promise<StoredStream> {
  const digest = new crypto.DigestStream("SHA-256");
  const hash = digest.getWriter();
  const part = new Uint8Array(PART_BYTES);
  const uploaded: R2UploadedPart[] = [];
  let upload: R2MultipartUpload | undefined;
  let filled = 0;
  let sizeBytes = 0;
  let contentType: string | undefined;

  const inspectOnce = async () => {
    contentType ??= await inspect(part.subarray(0, Math.min(filled, headBytes)));
    return { httpMetadata: { contentType } };
  };
  const sendPart = async () => {
    upload ??= await bucket.createMultipartUpload(key, await inspectOnce());
    uploaded.push(await upload.uploadPart(uploaded.length + 1, part.subarray(0, filled)));
    filled = 0;
  };

  try {
    for await (const chunk of chunks) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) {
        const limit = `${Math.floor(maxBytes / 1024 ** 2)} MiB`;
        throw new AppError("too_large", `The file is larger than the limit of ${limit}.`);
      }
      await hash.write(chunk);
      for (let read = 0; read < chunk.length;) {
        const slice = chunk.subarray(read, read + PART_BYTES - filled);
        part.set(slice, filled);
        filled += slice.length;
        read += slice.length;
        if (filled >= headBytes) await inspectOnce();
        if (filled === PART_BYTES) await sendPart();
      }
    }
    const options = await inspectOnce();
    if (upload && filled > 0) await sendPart();
    await hash.close();
    const sha256 = Buffer.from(await digest.digest).toString("hex");
    if (expectedSha256 !== undefined && sha256 !== expectedSha256) {
      throw new AppError(
        "download_refused",
        "Other bytes are there now; add them as something new.",
      );
    }
    if (upload) await upload.complete(uploaded);
    else await bucket.put(key, part.subarray(0, filled), options);
    return { sizeBytes, sha256, ...options.httpMetadata };
  } catch (error) {
    await upload?.abort();
    await hash.abort(error).catch(ignoreAfterUse);
    digest.digest.catch(ignoreAfterUse);
    throw error;
  }
}
