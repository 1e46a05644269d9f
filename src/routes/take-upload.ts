import { finishUpload } from "../care/finish-upload.ts";
import { AppError, ValidationError, type ValidationIssue } from "../errors.ts";
import { newId } from "../ids.ts";
import { type Checksum, receiveBytes } from "../ingest/receive.ts";
import { requireRoom } from "../store/limits.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { getUpload, holdUpload, insertUpload, type Upload } from "../store/uploads.ts";
import type { MediaIndexRow } from "../types.ts";
import type { Context } from "./endpoint.ts";
import { MESSAGES } from "./pydantic.ts";
import { surviving } from "./surviving.ts";
import { readBytes, readChecksum, readLength, requireLength, requireOctets } from "./tus.ts";
import { readUploadMetadata } from "./upload-metadata.ts";

type Owner = Pick<MediaIndexRow, "indexId" | "accountId">;

/** A new upload, with what comes along (creation-with-upload). Throws as `receiveBytes` does. */
export async function createUpload(c: Context, index: Owner): Promise<Upload> {
  const issues: ValidationIssue[] = [];
  const describedAs = c.req.header("upload-metadata") ?? "";
  const described = readUploadMetadata(describedAs, issues);
  const length = readLength(c, issues);
  if (issues.length > 0) throw new ValidationError(issues);
  const hasBody = c.req.raw.body !== null && c.req.header("content-length") !== "0";
  let digest: Checksum | null = null;
  if (hasBody) {
    requireOctets(c);
    digest = readChecksum(c);
    requireFit(c, { length, received: 0 });
  }
  const { indexId, accountId } = index;
  const uploadId = newId("upl");
  const made = { uploadId, indexId, accountId, describedAs, length, ...described };
  await insertUpload(c.env.DB, made, Date.now());
  const upload = await getUpload(c.env.DB, indexId, uploadId);
  if (!upload) throw new AppError("not_found", "The index was deleted meanwhile.");
  return hasBody ? surviving(c, takeFirst(c, upload, digest)) : upload;
}

/** The bytes that come with the creation; if they break off, nobody knows where to go on. */
async function takeFirst(c: Context, upload: Upload, digest: Checksum | null): Promise<Upload> {
  const received = await receive(c, upload, upload.length, digest).catch(async (error: unknown) => {
    await removeUpload(c.env, upload);
    throw error;
  });
  return finishUpload(c.env, received);
}

/**
 * Takes the next bytes of an upload, from where it is; with the last, it becomes an asset. Throws `conflict` where
 * it is elsewhere, and as `receiveBytes` and `finishUpload` do.
 */
export async function continueUpload(c: Context, upload: Upload): Promise<Upload> {
  requireOctets(c);
  const issues: ValidationIssue[] = [];
  const offset = readBytes(c, "upload-offset", issues);
  if (c.req.header("upload-offset") === undefined) {
    issues.push({ loc: ["header", "upload-offset"], msg: MESSAGES.missing, type: "missing" });
  }
  const told = readBytes(c, "upload-length", issues);
  requireLength(told, issues);
  if (issues.length > 0) throw new ValidationError(issues);
  const digest = readChecksum(c);
  if (offset !== upload.received) throw otherOffset(upload.received);
  if (told !== null && (upload.length ?? told) !== told) {
    throw new AppError("conflict", `The length of this upload is ${upload.length}.`);
  }
  const length = upload.length ?? told;
  if (length !== null && length < upload.received) {
    throw new AppError("conflict", `More bytes than ${length} have come already.`);
  }
  requireFit(c, { length, received: upload.received });
  const take = async () => {
    const received = upload.sha256 === null ? await receive(c, upload, length, digest) : upload;
    return finishUpload(c.env, received);
  };
  return surviving(c, take());
}

/** Throws `too_large` where the body says that it goes beyond the end. */
function requireFit(c: Context, { length, received }: Pick<Upload, "length" | "received">): void {
  const coming = Number(c.req.header("content-length") ?? 0);
  if (length === null || received + coming <= length) return;
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
    const coming = Number(c.req.header("content-length") ?? 1);
    const stored_bytes = length === null ? coming : length - upload.received;
    await requireRoom(c.env.DB, upload.accountId, { stored_bytes });
  }
  const held = await holdUpload(c.env.DB, upload, {
    token: crypto.randomUUID(),
    offset: upload.received,
    length,
  });
  if (!held) throw otherOffset();
  return receiveBytes(c.env, held, c.req.raw.body ?? [], digest);
}

function otherOffset(offset?: number): AppError {
  const where = offset === undefined ? "elsewhere now" : `at ${offset}`;
  return new AppError("conflict", `The upload is ${where}: ask with HEAD, and go on from there.`);
}
