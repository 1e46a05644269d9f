import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, ValidationError, type ValidationIssue } from "../errors.ts";
import { type Context, withWaitUntil } from "../http/context.ts";
import { userMetadata } from "../http/json-object.ts";
import { MESSAGES } from "../http/pydantic-errors.ts";
import {
  readByteCount,
  readChecksum,
  readUploadLength,
  requireUploadLength,
  requireOffsetOctetStream,
} from "../http/tus.ts";
import { validate, parseJson } from "../http/validation.ts";
import { newId } from "../ids.ts";
import { type Checksum, receiveBytes } from "../ingest/receive.ts";
import { completeUpload } from "../lifecycle/complete-upload.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { getUpload, lockUpload, insertUpload, type Upload } from "../store/d1/uploads.ts";
import { removeUpload } from "../store/stored-uploads.ts";
import { cleanTitle } from "../title.ts";
import type { MediaIndexRow, JsonObject } from "../types.ts";

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

const HEADER = "upload-metadata";

/** A key and its base64 value, which is optional. */
const PAIR =
  /^([\x21-\x2b\x2d-\x7e]+)(?: +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?))?$/;

export interface UploadMetadata {
  title: string | null;
  metadata: JsonObject;
}

/**
 * Parses tus's `Upload-Metadata` and reads the keys `filename` and `metadata_str` (JSON). Malformed
 * pairs and values are added to `issues`.
 */
export function readUploadMetadata(text: string, issues: ValidationIssue[]): UploadMetadata {
  const values = new Map<string, string>();
  if (text.length > LIMITS.uploadMetadataCharacters) {
    const msg = `Value error, At most ${LIMITS.uploadMetadataCharacters} characters`;
    issues.push({ loc: ["header", HEADER], msg, type: "value_error" });
    return { title: null, metadata: {} };
  }
  for (const pair of text.split(",").map((part) => part.trim())) {
    if (pair === "") continue;
    const [, name, encoded = ""] = PAIR.exec(pair) ?? [];
    const value = name === undefined ? null : decode(encoded);
    if (name === undefined || value === null || values.has(name)) {
      const msg = "Value error, Each pair must be a unique key, a space and a UTF-8 text in base64";
      issues.push({ loc: ["header", HEADER], msg, type: "value_error" });
      return { title: null, metadata: {} };
    }
    values.set(name, value);
  }
  const filename = values.get("filename");
  const metadata = parse(values.get("metadata_str") || "{}", issues);
  const pairs = { [HEADER]: { filename, ...(metadata && { metadata_str: metadata.value }) } };
  const valid = validate("header", uploadMetadataSchema, pairs, issues)?.[HEADER];
  return { title: cleanTitle(valid?.filename ?? "") || null, metadata: valid?.metadata_str ?? {} };
}

const uploadMetadataSchema = z.object({
  [HEADER]: z.object({ filename: z.string().optional(), metadata_str: userMetadata.optional() }),
});

function parse(text: string, issues: ValidationIssue[]): { value: unknown } | undefined {
  try {
    return { value: parseJson(text, ["header", HEADER, "metadata_str"]) };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

function decode(encoded: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(encoded, "base64"),
    );
  } catch {
    return null;
  }
}
