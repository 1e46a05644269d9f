import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { removeUpload } from "../store/upload-objects.ts";
import type { Upload } from "../store/uploads.ts";
import { UploadWriter } from "./upload-writer.ts";

/** What the bytes of one request must have. */
export interface Checksum {
  algorithm: "SHA-1" | "SHA-256" | "MD5";
  digest: Uint8Array;
}

/**
 * Adds the bytes of one request to the upload that it holds. Resolves to the upload as it is then; what came
 * before a connection broke counts. With a checksum all counts or nothing. Throws `bad_request` (broken off),
 * `wrong_checksum`, `conflict` (another request goes on with it), `too_large` (more than was said), and, where
 * the bytes can't become an asset, why: then the upload is gone. The rest of the body is let pass before, since
 * many clients don't listen for an answer while they still send.
 */
export async function receiveBytes(
  stores: Pick<Env, "DB" | "MEDIA">,
  upload: Upload,
  body: Body,
  checksum: Checksum | null,
): Promise<Upload> {
  const writer = await UploadWriter.open(stores, upload, checksum !== null);
  const room = (upload.length ?? LIMITS.uploadBytes) - upload.received;
  const digest = checksum && openDigest(checksum.algorithm);
  try {
    let arrived = 0;
    let refusal: unknown;
    let broken: AppError | undefined;
    const chunks = arriving(body, (error) => (broken = error));
    for await (const chunk of chunks) {
      arrived += chunk.length;
      await digest?.write(chunk);
      if (arrived > LIMITS.uploadBytes) throw tooMuch(room);
      if (refusal !== undefined) continue;
      if (arrived > room) refusal = tooMuch(room);
      else await writer.write(chunk).catch((error: unknown) => (refusal = error));
    }
    if (digest && (broken || !(await digest.has(checksum.digest)))) {
      if (broken) throw broken;
      throw new AppError("wrong_checksum", "The bytes don't have their checksum: send them again.");
    }
    if (refusal !== undefined) throw refusal;
    const received = await writer.close();
    if (broken) throw broken;
    return received;
  } catch (error) {
    await digest?.abort();
    await writer.drop();
    if (writer.unfit === error) await removeUpload(stores, upload);
    throw error;
  }
}

type Body = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The chunks of a body, which just ends where the connection breaks: `onBroken` hears of it. */
async function* arriving(
  body: Body,
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

function openDigest(algorithm: Checksum["algorithm"]) {
  const stream = new crypto.DigestStream(algorithm);
  const writer = stream.getWriter();
  stream.digest.catch(() => undefined); // of one that was given up
  return {
    write: (chunk: Uint8Array) => writer.write(chunk),
    has: async (wanted: Uint8Array) => {
      await writer.close();
      return Buffer.from(wanted).equals(Buffer.from(await stream.digest));
    },
    abort: () => writer.abort().catch(() => undefined),
  };
}

function tooMuch(room: number): AppError {
  return new AppError("too_large", `Only ${room} bytes of this upload are still to come.`);
}
