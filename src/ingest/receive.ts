import type { ByteSource } from "../byte-source.ts";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { ignoreAfterUse, ignoreUntilAwaited } from "../ignored-errors.ts";
import type { Upload } from "../store/d1/uploads.ts";
import { removeUpload } from "../store/stored-uploads.ts";
import { UploadWriter } from "./upload-writer.ts";

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
  const remainingBytes = (upload.length ?? LIMITS.uploadBytes) - upload.received;
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
    if (isQuotaError(writeError)) throw writeError;
    if (digest && (connectionError || !(await digest.matches(checksum.digest)))) {
      if (connectionError) throw connectionError;
      throw new AppError(
        "checksum_mismatch",
        "The bytes don't have their checksum: send them again.",
      );
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

function isQuotaError(error: unknown): boolean {
  return error instanceof AppError && error.code === "account_full";
}

/** Reads chunks until the body ends or the connection breaks, which calls `onBroken`. */
async function* readChunks(
  body: ByteSource,
  onBroken: (error: AppError) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    onBroken(
      new AppError("bad_request", "The upload broke off; go on from its offset.", { cause }),
    );
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
  return new AppError(
    "too_large",
    `Only ${remainingBytes} bytes of this upload are still to come.`,
  );
}
