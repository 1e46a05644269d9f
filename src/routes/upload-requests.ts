import { completeUpload } from "../lifecycle/complete-upload.ts";
import { AppError, ValidationError, type ValidationIssue } from "../errors.ts";
import { newId } from "../ids.ts";
import { type Checksum, receiveBytes } from "../ingest/receive.ts";
import { requireQuota } from "../store/quotas.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { getUpload, lockUpload, insertUpload, type Upload } from "../store/uploads.ts";
import type { MediaIndexRow } from "../types.ts";
import type { Context } from "../http/context.ts";
import { MESSAGES } from "../http/pydantic-errors.ts";
import { withWaitUntil } from "../http/wait-until.ts";
import {
  readByteCount,
  readChecksum,
  readUploadLength,
  requireUploadLength,
  requireOffsetOctetStream,
} from "../http/tus.ts";
import { readUploadMetadata } from "./upload-metadata.ts";

/**
 * Creates an upload and receives the bytes in the same request, if any (tus's
 * creation-with-upload). Throws as `receiveBytes` does.
 */
export async function createUpload(
  c: Context,
  { indexId, accountId }: Pick<MediaIndexRow, "indexId" | "accountId">,
): Promise<Upload> {
  const issues: ValidationIssue[] = [];
  const uploadMetadata = c.req.header("upload-metadata") ?? "";
  const titleAndMetadata = readUploadMetadata(uploadMetadata, issues);
  const length = readUploadLength(c, issues);
  if (issues.length > 0) throw new ValidationError(issues);
  const hasBody = c.req.raw.body !== null && c.req.header("content-length") !== "0";
  let digest: Checksum | null = null;
  if (hasBody) {
    requireOffsetOctetStream(c);
    digest = readChecksum(c);
    requireFit(c, { length, received: 0 });
  }
  const uploadId = newId("upl");
  const newUpload = { uploadId, indexId, accountId, uploadMetadata, length, ...titleAndMetadata };
  await insertUpload(c.env.DB, newUpload, Date.now());
  const upload = await getUpload(c.env.DB, indexId, uploadId);
  if (!upload) throw new AppError("not_found", "The index was deleted meanwhile.");
  return hasBody ? withWaitUntil(c, receiveFirstBytes(c, upload, digest)) : upload;
}

/**
 * Receives the bytes that come with the creation. Removes the upload if they are cut off: the
 * client never gets its URL, and so can't resume.
 */
async function receiveFirstBytes(
  c: Context,
  upload: Upload,
  digest: Checksum | null,
): Promise<Upload> {
  const received = await receive(c, upload, upload.length, digest).catch(async (error: unknown) => {
    await removeUpload(c.env, upload);
    throw error;
  });
  return completeUpload(c.env, received);
}

/**
 * Appends bytes at the upload's offset. With the last byte the upload becomes an asset. Throws
 * `conflict` for another offset, and as `receiveBytes` and `completeUpload` do.
 */
export async function continueUpload(c: Context, upload: Upload): Promise<Upload> {
  requireOffsetOctetStream(c);
  const issues: ValidationIssue[] = [];
  const offset = readByteCount(c, "upload-offset", issues);
  if (c.req.header("upload-offset") === undefined) {
    issues.push({ loc: ["header", "upload-offset"], msg: MESSAGES.missing, type: "missing" });
  }
  const declaredLength = readByteCount(c, "upload-length", issues);
  requireUploadLength(declaredLength, issues);
  if (issues.length > 0) throw new ValidationError(issues);
  const digest = readChecksum(c);
  if (offset !== upload.received) throw offsetConflict(upload.received);
  const length = requireConsistentLength(upload, declaredLength);
  requireFit(c, { length, received: upload.received });
  const receiveAndComplete = async () => {
    const received = upload.sha256 === null ? await receive(c, upload, length, digest) : upload;
    return completeUpload(c.env, received);
  };
  return withWaitUntil(c, receiveAndComplete());
}

/** Returns the upload's length. Throws `conflict` if the declared length contradicts the upload. */
function requireConsistentLength(
  { length: uploadLength, received }: Upload,
  declaredLength: number | null,
): number | null {
  if (uploadLength !== null && declaredLength !== null && uploadLength !== declaredLength) {
    throw new AppError("conflict", `The length of this upload is ${uploadLength} bytes.`);
  }
  const length = uploadLength ?? declaredLength;
  if (length !== null && length < received) {
    throw new AppError("conflict", `This upload has received more than ${length} bytes already.`);
  }
  return length;
}

/** Throws `too_large` if `Content-Length` exceeds what is missing of the upload. */
function requireFit(c: Context, { length, received }: Pick<Upload, "length" | "received">): void {
  const bodyBytes = Number(c.req.header("content-length") ?? 0);
  if (length === null || received + bodyBytes <= length) return;
  const message = `Only ${length - received} bytes of this upload are still to come.`;
  throw new AppError("too_large", message);
}

async function receive(
  c: Context,
  upload: Upload,
  length: number | null,
  digest: Checksum | null,
): Promise<Upload> {
  if (upload.length === null) {
    const bodyBytes = Number(c.req.header("content-length") ?? 1);
    const stored_bytes = length === null ? bodyBytes : length - upload.received;
    await requireQuota(c.env.DB, upload.accountId, { stored_bytes });
  }
  const locked = await lockUpload(c.env.DB, upload, {
    token: crypto.randomUUID(),
    offset: upload.received,
    length,
  });
  if (!locked) throw offsetConflict();
  return receiveBytes(c.env, locked, c.req.raw.body ?? [], digest);
}

function offsetConflict(offset?: number): AppError {
  const reason =
    offset === undefined ? "The upload's offset has changed" : `The upload is at byte ${offset}`;
  return new AppError("conflict", `${reason}: get it with HEAD, and continue from there.`);
}
